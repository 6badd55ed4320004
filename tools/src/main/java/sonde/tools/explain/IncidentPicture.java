package sonde.tools.explain;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Draws what a report says of an object and of those who touched it, or a cycle of locks. */
final class IncidentPicture {
    private static final int WIDTH = 48;

    /** {@code [ffff888003cf4200, ffff888003cf4240)}. */
    private static final LinePattern REGION =
            new LinePattern("\\[(?<from>[0-9a-f]{8,16}), (?<to>[0-9a-f]{8,16})\\)");

    /** {@code kfence-#12: 0x1000-0x103f, size=64, cache=kmalloc-64}. */
    private static final LinePattern KFENCE =
            new LinePattern(
                    "kfence-#\\d+:? \\[?0x(?<from>[0-9a-f]{8,16})-0x(?<to>[0-9a-f]{8,16}), "
                            + "size=(?<size>\\d{1,9})");

    private static final Pattern TASK =
            Pattern.compile("by (?<task>(?:task|interrupt|.{1,32}/)\\s?\\d+.*?)(?: on cpu.*)?:?$");

    private final BlameRules rules;
    private final LockGraph locks;

    IncidentPicture(BlameRules rules, LockGraph locks) {
        this.rules = rules;
        this.locks = locks;
    }

    List<String> of(
            IncidentKind kind,
            Map<String, String> fields,
            Map<String, String> machine,
            IncidentReader.Blame blame,
            List<LogStack> stacks,
            List<LogLine> lines) {
        if (kind.name().equals("oom-kill")) {
            return OomDetails.of(lines).table();
        }
        List<String> cycle = locks.cycle(stacks, lines);
        if (!cycle.isEmpty()) {
            return cycle;
        }
        List<String> scenario = locks.scenario(lines);
        if (!scenario.isEmpty()) {
            return scenario;
        }
        List<String> drawn = new ArrayList<>(object(fields, lines));
        List<String[]> sides = new ArrayList<>();
        LogFrame blamed = blame.frame();
        for (LogStack stack : stacks) {
            String[] side = side(stack);
            if (side.length > 0 && sides.size() < 8) {
                sides.add(side);
            }
        }
        if (!sides.isEmpty() && fields.containsKey("access") && blamed != null) {
            String task = fields.getOrDefault("task", machine.getOrDefault("task", ""));
            String pid = fields.getOrDefault("pid", machine.getOrDefault("pid", ""));
            sides.addFirst(
                    new String[] {
                        fields.getOrDefault("access", "").toLowerCase(Locale.ROOT),
                        task + (pid.isEmpty() ? "" : "/" + pid),
                        place(blamed)
                    });
        }
        int first = sides.stream().mapToInt(side -> side[0].length()).max().orElse(0);
        int second = sides.stream().mapToInt(side -> side[1].length()).max().orElse(0);
        for (String[] side : sides.size() < 2 ? List.<String[]>of() : sides) {
            drawn.add(
                    side[0]
                            + " ".repeat(first - side[0].length() + 2)
                            + side[1]
                            + " ".repeat(second - side[1].length() + 2)
                            + side[2]);
        }
        return drawn;
    }

    /** The object as a bar, with the bytes that were accessed. */
    private static List<String> object(Map<String, String> fields, List<LogLine> lines) {
        for (LogLine line : lines) {
            Matcher region = REGION.match(line.text());
            Matcher found = region == null ? KFENCE.match(line.text()) : region;
            if (found == null) {
                continue;
            }
            boolean isRegion = region != null;
            long from = Long.parseUnsignedLong(found.group("from"), 16);
            long size =
                    isRegion
                            ? Long.parseUnsignedLong(found.group("to"), 16) - from
                            : Long.parseLong(found.group("size"));
            String address = fields.getOrDefault("address", fields.getOrDefault("addr", ""));
            String hex = address.startsWith("0x") ? address.substring(2) : address;
            if (size <= 0 || size > 1 << 24 || !hex.matches("[0-9a-f]{8,16}")) {
                return List.of();
            }
            String bytes = fields.getOrDefault("size", "1");
            long length = bytes.matches("\\d{1,9}") ? Math.max(1, Long.parseLong(bytes)) : 1;
            return bar(Long.parseUnsignedLong(hex, 16) - from, length, size);
        }
        return List.of();
    }

    private static List<String> bar(long at, long length, long size) {
        if (Math.abs(at) > 1L << 40) {
            return List.of();
        }
        long low = Math.min(0, at);
        long high = Math.max(size, at + length);
        double scale = Math.min(1, WIDTH / (double) (high - low));
        int begin = (int) ((0 - low) * scale);
        int end = Math.max(begin + 1, (int) Math.ceil((size - low) * scale));
        int first = (int) ((at - low) * scale);
        int behind = Math.max(first + 1, (int) Math.ceil((at + length - low) * scale));
        StringBuilder bar = new StringBuilder();
        for (int i = 0; i < Math.max(end, behind); i++) {
            bar.append(i == begin ? "[" : "");
            bar.append(i >= first && i < behind ? '#' : i >= begin && i < end ? '.' : ' ');
            bar.append(i == end - 1 ? "]" : "");
        }
        String where =
                at < 0
                        ? -at + " bytes before the object"
                        : at >= size
                                ? at - size + " bytes behind the object"
                                : "offset " + at + " of the object";
        return List.of(
                "object of %d bytes, # = %d accessed, %s".formatted(size, length, where),
                bar.toString());
    }

    /** The function with the innermost place that is its own. */
    private static String place(LogFrame frame) {
        return frame.function()
                + (frame.module().isEmpty() ? "" : " [" + frame.module() + "]")
                + (frame.line() == 0 ? "" : "  " + frame.file() + ":" + frame.line());
    }

    /** Who did what where, of a stack that is not the report's own; empty for others. */
    private String[] side(LogStack stack) {
        String heading = stack.heading().toLowerCase(Locale.ROOT);
        String word =
                heading.startsWith("allocated")
                        ? "allocated"
                        : heading.startsWith("freed")
                                ? "freed"
                                : heading.startsWith("last potentially")
                                        ? "queued"
                                        : heading.startsWith("uninit was created")
                                                ? "created"
                                                : heading.startsWith("uninit was stored")
                                                        ? "stored"
                                                        : heading.matches(
                                                                        "(?:read|write).* to 0x.*")
                                                                ? heading.replaceFirst(
                                                                        " to 0x[0-9a-f]+", "")
                                                                : "";
        if (word.isEmpty()) {
            return new String[0];
        }
        Matcher by = TASK.matcher(stack.heading());
        String task = by.find() ? by.group("task") : "";
        String done = word.replaceFirst(" by .*", "");
        for (LogFrame frame : LogFrame.sure(stack.frames())) {
            if (rules.skips(frame.function(), Set.of("alloc", "free", "leak", "page")).isEmpty()) {
                return new String[] {done, task, place(frame)};
            }
        }
        return new String[] {done, task, "a place without a frame of its own"};
    }
}
