package sonde.bpf.verifier;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.bpf.verifier.LogEntry.LoggedSource;
import sonde.bpf.verifier.LogEntry.LoggedState;
import sonde.bpf.verifier.LogEntry.LoggedStep;

/**
 * A verifier's log, line by line: of Linux 5.x to 7.x, levels 1 and 2, with or without statistics,
 * cut off at either end. Whatever the text, reading it ends and throws nothing; of very long ones
 * the end is read.
 *
 * @param report the explanation that kernels since 7.3 add
 */
public record VerifierLog(
        List<LogEntry> entries, VerifierStatistics statistics, @Nullable KernelReport report) {
    private static final int MOST_LINES = 400_000;
    private static final int MOST_LINE = 8000;
    private static final int MOST_REPORT = 20_000;

    /** Beginnings of lines by which the kernel tells how it goes on. */
    private static final List<String> REMARKS =
            List.of(
                    "mark_precise:",
                    "force_precise:",
                    "last_idx ",
                    "regs=",
                    "parent ",
                    "propagating ",
                    "func#",
                    "Live regs before insn",
                    "Func#",
                    "caller:",
                    "callee:",
                    "returning from callee:",
                    "to caller at ",
                    "cur state:",
                    "old state:",
                    "cb ");

    /** Reads all lines. */
    public static VerifierLog read(String text) {
        List<String> lines = lines(text);
        List<LogEntry> entries = new ArrayList<>();
        VerifierStatistics statistics = VerifierStatistics.NONE;
        KernelReport report = null;
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            if (line.isBlank()) {
                continue;
            }
            if (VerifierStatistics.isLine(line)) {
                statistics = statistics.with(line);
            } else if (KernelReport.isHeader(line)) {
                int end = i + 1;
                while (end < lines.size()
                        && end - i < MOST_REPORT
                        && !VerifierStatistics.isLine(lines.get(end))
                        && !KernelReport.isHeader(lines.get(end))) {
                    end++;
                }
                report = KernelReport.read(lines.subList(i, end));
                i = end - 1;
            } else {
                entries.add(entry(line));
            }
        }
        return new VerifierLog(List.copyOf(entries), statistics, report);
    }

    private static List<String> lines(String text) {
        int from = text.length();
        for (int count = 0; from > 0 && count <= MOST_LINES; count++) {
            from = text.lastIndexOf('\n', from - 1);
        }
        return text.substring(Math.max(0, from))
                .lines()
                .map(line -> line.length() > MOST_LINE ? line.substring(0, MOST_LINE) : line)
                .map(PrintableText::line)
                .toList();
    }

    private static LogEntry entry(String line) {
        char first = line.charAt(0);
        if (first == ';') {
            return new LoggedSource(source(line.substring(1).strip()));
        }
        if (first >= '0' && first <= '9') {
            return numbered(line);
        }
        if (line.startsWith("from ")) {
            return resumed(line);
        }
        if (line.startsWith("Validating ")) {
            int end = line.indexOf("()");
            String name = end < 0 ? "" : line.substring("Validating ".length(), end);
            return new LogEntry.Function(name);
        }
        if (first == ' ') {
            return isState(line.strip())
                    ? new LoggedState(-1, line.strip())
                    : new LogEntry.Remark(line.strip());
        }
        boolean remark = line.startsWith("frame ") && line.contains(": propagating ");
        for (String begin : REMARKS) {
            remark |= line.startsWith(begin);
        }
        return remark ? new LogEntry.Remark(line) : new LogEntry.Message(line);
    }

    /** {@code int x = 1; @ file.c:12}; the place is written since Linux 6.9. */
    private static SourceLine source(String line) {
        int at = line.lastIndexOf(" @ ");
        int colon = line.lastIndexOf(':');
        if (at >= 0 && colon > at) {
            String digits = line.substring(colon + 1);
            if (digits.matches("[0-9]{1,9}")) {
                String file = line.substring(at + 3, colon);
                return new SourceLine(file, Integer.parseInt(digits), 0, line.substring(0, at));
            }
        }
        return new SourceLine("", 0, 0, line);
    }

    private static LogEntry numbered(String line) {
        int colon = line.indexOf(':');
        int slot = number(line, 0, colon);
        if (slot < 0) {
            return new LogEntry.Message(line);
        }
        String rest = line.substring(colon + 1).strip();
        if (rest.length() > 4 && rest.charAt(0) == '(' && rest.charAt(3) == ')') {
            int semicolon = rest.indexOf(';');
            String text = semicolon < 0 ? rest : rest.substring(0, semicolon);
            String state = semicolon < 0 ? "" : rest.substring(semicolon + 1).strip();
            return new LoggedStep(slot, text.substring(4).strip(), state);
        }
        if (rest.startsWith("BUG_")) {
            return new LoggedStep(slot, rest, ""); // print_bpf_insn: no instruction
        }
        if (isState(rest)) {
            return new LoggedState(slot, rest);
        }
        return rest.equals("safe") ? new LogEntry.Remark(line) : new LogEntry.Message(line);
    }

    private static boolean isState(String text) {
        return text.matches("(R\\d|frame\\d|fp-\\d|refs=).{0,8000}") && text.indexOf('=') > 0;
    }

    /** {@code from 3 to 7: R0=...}, {@code from 3 to 7 (speculative execution): safe}. */
    private static LogEntry resumed(String line) {
        int to = line.indexOf(" to ");
        int colon = line.indexOf(':');
        int source = to < 0 ? -1 : number(line, 5, to);
        int end = to + 4;
        while (end < line.length() && Character.isDigit(line.charAt(end))) {
            end++;
        }
        int target = to < 0 ? -1 : number(line, to + 4, end);
        if (source < 0 || target < 0 || colon < end) {
            return new LogEntry.Message(line);
        }
        String rest = line.substring(colon + 1).strip();
        return new LogEntry.Resumed(source, target, rest, rest.equals("safe"));
    }

    private static int number(String line, int from, int to) {
        if (to <= from || to - from > 7) {
            return -1;
        }
        int value = 0;
        for (int i = from; i < to; i++) {
            char c = line.charAt(i);
            if (c < '0' || c > '9') {
                return -1;
            }
            value = value * 10 + c - '0';
        }
        return value;
    }

    /**
     * The value of a register or stack slot in a state: {@code "scalar(umax=10)"} of {@code "R3"}
     * or {@code "fp-8"}; empty when it is not there.
     */
    public static String valueIn(String state, String name) {
        int depth = 0;
        int from = 0;
        for (int i = 0; i <= state.length(); i++) {
            char c = i == state.length() ? ' ' : state.charAt(i);
            if (c == '(' || c == '{') {
                depth++;
            } else if (c == ')' || c == '}') {
                depth--;
            } else if (c == ' ' && depth <= 0) {
                String token = state.substring(from, i);
                int equals = token.indexOf('=');
                if (equals > 0 && name(token.substring(0, equals)).equals(name)) {
                    return token.substring(equals + 1);
                }
                from = i + 1;
                depth = 0;
            }
        }
        return "";
    }

    /** Without the marks of liveness: {@code R1_rw} is R1. */
    private static String name(String word) {
        int mark = word.indexOf('_');
        return mark < 0 ? word : word.substring(0, mark);
    }
}
