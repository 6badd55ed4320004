package sonde.tools.explain;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A stack of a report.
 *
 * @param heading what the log calls it: {@code Call Trace}, {@code Freed by task 12}
 * @param line its heading's line, counted from the report's first
 */
record LogStack(String heading, int line, List<LogFrame> frames) {
    /** Lines that a stack follows. */
    private static final Pattern HEADING =
            Pattern.compile(
                    "^ *(?<heading>Call [Tt]race|Backtrace|Trace|backtrace(?: \\(crc [0-9a-f]+\\))?"
                            + "|stack backtrace|Stack backtrace"
                            + "|Allocated(?: by task \\d+.*?)?|Freed(?: by task \\d+.*?)?"
                            + "|(?:Last|Second to last) (?:potentially related work creation|"
                            + "call_rcu\\(\\))"
                            + "|Uninit was (?:created|stored to memory) at"
                            + "|Local variable .* created at|Memory was marked uninitialized"
                            + "|(?:read|write|read-write)(?: \\(\\w+\\))? to 0x[0-9a-f]+ of \\d+ "
                            + "bytes by .*"
                            + "|race at unknown origin, with .*"
                            + "|-> #\\d+ \\(.*"
                            + "|(?:hard|soft)irqs last +(?:enabled|disabled) .*"
                            + "|page last (?:allocated|free).* stack trace|page_owner .* stack "
                            + "trace"
                            + "|Preemption disabled at|allocated by task .*|freed by task .*"
                            + "|kfence-#\\d+.*|The buggy address belongs to .* stack of .*"
                            + "|NMI backtrace for cpu \\d+.*|Sending NMI from CPU .*|Workqueue: "
                            + ".*|CPU: \\d+ .*"
                            + "|task:.*state:.*"
                            + "|\\{[\\w-]+\\} (?:state was registered at|ops)):?(?: \\([\\w "
                            + "]*\\))?:?$"
                            + "|^(?<open>Call [Tt]race:) ");

    /** What headings begin with. */
    private static final String FIRST = "CBTbsSAFLUMrhNPakWt-{";

    /** A task in the dump of all tasks, before Linux 5.14. */
    private static final Pattern TASK = Pattern.compile("^[^ ]+ +[RSDTtXZPIKW] .* 0x[0-9a-f]{8}");

    private static final Pattern IRQ = Pattern.compile("-irq-(?:safe|unsafe) lock");

    static @Nullable String heading(String text) {
        int length = text.length();
        if (length > 300 || length < 5) {
            return null;
        }
        int first = 0;
        while (first < length - 1 && text.charAt(first) == ' ') {
            first++;
        }
        if (first > 0 && text.contains("+0x")) {
            return null; // a frame
        }
        boolean isOther =
                first == 0 && text.contains(" 0x") && TASK.matcher(text).lookingAt()
                        || text.contains("-irq-") && IRQ.matcher(text).find();
        if (isOther) {
            return text.strip();
        }
        if (FIRST.indexOf(text.charAt(first)) < 0) {
            return null;
        }
        Matcher heading = HEADING.matcher(text);
        if (!heading.lookingAt()) {
            return null;
        }
        return heading.group("open") != null ? "Call Trace" : heading.group("heading");
    }

    /** All stacks of a report, in its order. Frames before a heading are a stack without one. */
    static List<LogStack> of(List<LogLine> lines) {
        List<LogStack> stacks = new ArrayList<>();
        String heading = "";
        int at = 0;
        List<LogFrame> frames = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            String text = lines.get(i).text();
            String begins = heading(text);
            if (begins != null) {
                if (!frames.isEmpty()) {
                    stacks.add(new LogStack(heading, at, frames));
                    frames = new ArrayList<>();
                }
                heading = begins;
                at = i;
                continue;
            }
            List<LogFrame> found = LogFrame.of(text);
            at = heading.isEmpty() && frames.isEmpty() && !found.isEmpty() ? i : at;
            LogFrame top = found.isEmpty() ? LogFrame.top(text) : null;
            if (top != null && !frames.isEmpty()) {
                frames.add(top); // where an interrupt came, inside of a stack
            }
            for (LogFrame frame : found) {
                boolean twice =
                        frame.offset().isEmpty()
                                && frame.raw().isEmpty()
                                && !frames.isEmpty()
                                && frames.getLast().function().equals(frame.function());
                if (!twice) {
                    frames.add(frame);
                }
            }
        }
        if (!frames.isEmpty()) {
            stacks.add(new LogStack(heading, at, frames));
        }
        return stacks;
    }
}
