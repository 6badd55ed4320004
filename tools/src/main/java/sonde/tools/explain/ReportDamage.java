package sonde.tools.explain;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.tools.explain.IncidentReader.Blame;

/** Why a report cannot be trusted: parts of it are missing, or are of another report. */
final class ReportDamage {
    private static final int MOST_OWN = 4;

    /** PID_MAX_LIMIT of 64-bit machines, include/linux/threads.h. */
    private static final long MOST_PID = 4 << 20;

    private static final Pattern TASK =
            Pattern.compile("(?:by task \\S+/|^\\S+/)(?<pid>\\d{1,7})(?: is trying to |$)");

    private static final Pattern INNER_TIME = Pattern.compile("\\[ {0,7}\\d{1,8}\\.\\d{6}\\]");

    private final BlameRules rules;
    private final IncidentKind kind;
    private final List<LogLine> lines;
    private final List<LogStack> stacks;
    private final Map<String, String> machine;
    private final boolean isDropped;

    ReportDamage(
            BlameRules rules,
            IncidentKind kind,
            List<LogLine> lines,
            List<LogStack> stacks,
            Map<String, String> machine,
            boolean isDropped) {
        this.rules = rules;
        this.kind = kind;
        this.lines = lines;
        this.stacks = stacks;
        this.machine = machine;
        this.isDropped = isDropped;
    }

    /**
     * Sentences; empty if the report is complete.
     *
     * @param isNamed whether the first line names the function, and no stack need follow
     */
    List<String> of(Blame blame, boolean isNamed) {
        List<String> damage = new ArrayList<>();
        boolean needsStack = !kind.has("nostack");
        if (needsStack && blame.frame() == null) {
            damage.add("no frame of a stack is left to blame");
        } else if (needsStack && !isNamed && !hasStack()) {
            damage.add("the report has no stack: it was cut short");
        } else if (needsStack && isAlone(blame)) {
            damage.add("the stack has no frame but those of the report itself");
        } else if (isOfAllocation(blame)) {
            damage.add("the stack is the one of an allocation that failed or was forced to fail");
        } else if (needsStack && !isNamed) {
            emptyStack(damage);
        }
        tasks(damage);
        if (needsStack && isMixed()) {
            damage.add("the stack of a failure that fault injection forced is mixed in");
        }
        if (isDropped) {
            damage.add("the kernel dropped messages inside of the report");
        }
        for (LogLine line : lines) {
            boolean isPart = line.text().startsWith(" <") || line.text().startsWith("---[ end");
            if (!isPart && hasInnerTime(line.text())) {
                damage.add("two messages are in one line: " + line.text());
                break;
            }
        }
        return damage;
    }

    private static boolean hasInnerTime(String text) {
        for (int at = text.indexOf('[', 1); at > 0; at = text.indexOf('[', at + 1)) {
            if (INNER_TIME.matcher(text).region(at, text.length()).lookingAt()) {
                return true;
            }
        }
        return false;
    }

    private boolean hasStack() {
        for (LogStack stack : stacks) {
            if (!stack.heading().isEmpty() || stack.frames().size() > 1) {
                return true;
            }
        }
        return false;
    }

    /** The headings of stacks behind which nothing follows that the unwinder is sure of. */
    private void emptyStack(List<String> damage) {
        for (int i = 0; i < lines.size(); i++) {
            String heading = LogStack.heading(lines.get(i).text());
            if (heading != null && heading.startsWith("Call ")) {
                if (!isFollowed(i)) {
                    damage.add("the first stack has no frame that the unwinder is sure of");
                }
                return;
            }
        }
    }

    private boolean isFollowed(int heading) {
        for (int i = heading + 1; i < lines.size(); i++) {
            String text = lines.get(i).text();
            if (!LogFrame.sure(LogFrame.of(text)).isEmpty()) {
                return true;
            }
            if (LogStack.heading(text) != null || text.startsWith("Code: ")) {
                return false;
            }
        }
        return false;
    }

    /** Whether the first line names a function, and all frames are those of the report itself. */
    private boolean isAlone(Blame blame) {
        int own = 0;
        for (LogFrame frame : blame.candidates()) {
            own += rules.skips(frame.function(), kind.skips()).isEmpty() ? 1 : 0;
        }
        LogFrame frame = blame.frame();
        return frame != null
                && frame.offset().isEmpty()
                && own == 1
                && blame.candidates().size() > 2;
    }

    /** Fault injection and failed allocations print stacks, which another report may get. */
    private boolean isOfAllocation(Blame blame) {
        List<LogFrame> frames = blame.candidates();
        for (LogFrame frame : frames.subList(0, Math.min(frames.size(), MOST_OWN))) {
            boolean forced = frame.function().startsWith("should_fail");
            if (forced || frame.function().equals("warn_alloc") && kind.isFault()) {
                return !frame.isExact();
            }
        }
        return false;
    }

    /** Whether fault injection printed its stack before the report's, or inside of it. */
    private boolean isMixed() {
        boolean isStack = false;
        for (LogLine line : lines) {
            String text = line.text();
            if (text.startsWith("FAULT_INJECTION: forcing")) {
                return true;
            }
            if (text.contains("should_fail") && !isStack) {
                return true;
            }
            isStack |= text.endsWith(":") && LogStack.heading(text) != null;
            if (isStack && (text.startsWith("RIP: 0033:") || text.startsWith("---["))) {
                return false;
            }
        }
        return false;
    }

    /** Whether the report names a task, and the registers or the stack are of another. */
    private void tasks(List<String> damage) {
        String pid = machine.get("pid");
        if (pid == null) {
            return;
        }
        if (pid.length() > 9 || Long.parseLong(pid) > MOST_PID) {
            damage.add("no task can have the pid " + pid + ": its task_struct was overwritten");
        }
        for (LogLine line : lines) {
            Matcher task = line.text().indexOf('/') > 0 ? TASK.matcher(line.text()) : null;
            if (task != null && task.find()) {
                if (!task.group("pid").equals(pid)) {
                    damage.add("the stack is the one of another task");
                }
                break;
            }
        }
    }
}
