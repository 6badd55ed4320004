package sonde.bpf.verifier;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The verifier's own explanation (kernel/bpf/diagnostics.c, Linux 7.3), which follows its message.
 *
 * @param category {@code "Memory Safety"}
 * @param problem {@code "Access outside bounds"}
 * @param reason in sentences
 * @param path what happened before, first to last
 * @param suggestion in sentences; empty when it was cut off
 */
public record KernelReport(
        String category,
        String problem,
        String reason,
        @Nullable ReportedStep at,
        List<ReportedStep> path,
        String suggestion) {
    /**
     * A place and what it says there.
     *
     * @param slot of the instruction; -1 when cut off
     * @param label {@code "error"}, {@code "branch"}, {@code "update"}, {@code "invalidated"}
     */
    public record ReportedStep(int slot, @Nullable SourceLine source, String label, String text) {}

    private static final String HEADER = "Verification failed: ";
    private static final String MARK = ">>> ";
    private static final int MOST_EVENTS = 1000;

    /** Whether it begins there. */
    static boolean isHeader(String line) {
        return line.startsWith(HEADER);
    }

    /** From its lines, the header first. */
    static KernelReport read(List<String> lines) {
        String head = lines.getFirst().substring(HEADER.length());
        int colon = head.indexOf(": ");
        String category = colon < 0 ? head : head.substring(0, colon);
        String problem = colon < 0 ? "" : head.substring(colon + 2);
        return new KernelReport(
                category,
                problem,
                prose(section(lines, "Reason:")),
                events(section(lines, "At:")).stream().findFirst().orElse(null),
                events(section(lines, "Causal path:")),
                prose(section(lines, "Suggestion:")));
    }

    /** The indented lines behind a title. */
    private static List<String> section(List<String> lines, String title) {
        int from = lines.indexOf(title) + 1;
        int to = from;
        while (from > 0
                && to < lines.size()
                && (lines.get(to).isBlank() || lines.get(to).charAt(0) == ' ')) {
            to++;
        }
        return lines.subList(from, to);
    }

    private static String prose(List<String> lines) {
        return String.join(" ", lines.stream().map(String::strip).toList()).strip();
    }

    /** Blocks that begin with {@code insn 3} or {@code main @ file.c:12:5}. */
    private static List<ReportedStep> events(List<String> lines) {
        List<ReportedStep> events = new ArrayList<>();
        int from = 0;
        for (int i = 1; i <= lines.size() && events.size() < MOST_EVENTS; i++) {
            if (i == lines.size() || isPlace(lines.get(i))) {
                if (isPlace(lines.get(from))) {
                    events.add(event(lines.subList(from, i)));
                }
                from = i;
            }
        }
        return events;
    }

    private static boolean isPlace(String line) {
        return line.startsWith("  ")
                && line.length() > 2
                && line.charAt(2) != ' '
                && (line.matches("  insn \\d{1,7}")
                        || line.matches("  .{1,4000}:\\d{1,9}:\\d{1,9}"));
    }

    private static ReportedStep event(List<String> lines) {
        String place = lines.getFirst().strip();
        SourceLine source = null;
        int slot = place.startsWith("insn ") ? number(place.substring(5)) : -1;
        boolean code = false;
        StringBuilder note = new StringBuilder();
        for (String line : lines) {
            String words = line.strip();
            if (words.equals("Instruction context:")) {
                code = true;
            } else if (words.startsWith(MARK)) {
                int bar = words.indexOf(" | ");
                int number = number(words.substring(MARK.length(), Math.max(4, bar)).strip());
                if (code) {
                    slot = number;
                } else if (bar >= 0) {
                    source = source(place, words.substring(bar + 3).strip());
                }
            } else if (words.startsWith("| ") && !code) {
                note.append(note.isEmpty() ? "" : " ").append(words.substring(2).strip());
            }
        }
        String said = note.toString().replaceFirst("^\\^-- ", "");
        int colon = said.indexOf(": ");
        return new ReportedStep(
                slot,
                source != null || slot >= 0 && place.startsWith("insn ")
                        ? source
                        : source(place, ""),
                colon < 0 ? "" : said.substring(0, colon),
                colon < 0 ? said : said.substring(colon + 2));
    }

    /** {@code main @ file.c:12:5}. */
    private static SourceLine source(String place, String text) {
        String rest = place.substring(place.indexOf(" @ ") < 0 ? 0 : place.indexOf(" @ ") + 3);
        int last = rest.lastIndexOf(':');
        int before = last < 0 ? -1 : rest.lastIndexOf(':', last - 1);
        if (before < 0) {
            return new SourceLine(rest, 0, 0, text);
        }
        return new SourceLine(
                rest.substring(0, before),
                Math.max(0, number(rest.substring(before + 1, last))),
                Math.max(0, number(rest.substring(last + 1))),
                text);
    }

    private static int number(String digits) {
        return digits.matches("[0-9]{1,9}") ? Integer.parseInt(digits) : -1;
    }
}
