package sonde.tools.explain;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Who keeps RCU or a processor waiting: Documentation/RCU/stallwarn.rst. */
final class StallDetails {
    private static final int MOST = 16;

    /** {@code 1-....: (5249 ticks this GP) idle=...}. */
    private static final Pattern PROCESSOR =
            Pattern.compile(
                    "^(?:rcu: ?)?\\s*(?<cpu>\\d{1,5})(?:-[O.?][o.?][N.?](?<work>[.!?\\d]))?: "
                            + "\\((?<count>\\d{1,12}) (?<unit>ticks this GP|GPs behind)\\)");

    private static final Pattern BLOCKED =
            Pattern.compile("Tasks blocked on level-\\d+ rcu_node \\(CPUs [\\d-]+\\):(?<tasks>.*)");

    private static final Pattern TASK = Pattern.compile("\\bP(?<pid>\\d{1,9})");

    private static final Pattern STARVED =
            Pattern.compile(
                    "(?<thread>rcu_\\w+) kthread starved for (?<jiffies>\\d{1,15}) jiffies!"
                            + "(?:.*->cpu=(?<cpu>\\d{1,5}))?");

    private static final Pattern TIMER =
            Pattern.compile(
                    "(?<thread>rcu_\\w+) kthread timer wakeup didn't happen for "
                            + "(?<jiffies>\\d{1,15}) jiffies!");

    private static final Pattern SPINS =
            Pattern.compile(
                    "(?:native_|__pv_)?queued_spin_lock_slowpath|queued_"
                            + "(?:read|write)_lock_slowpath"
                            + "|do_raw_spin_lock|_raw_(?:spin|read|write)_lock\\w*|arch_spin_lock");

    private StallDetails() {}

    static List<String> of(List<LogLine> lines, BlameRules rules) {
        List<String> details = new ArrayList<>();
        for (LogLine line : lines) {
            String text = line.text();
            if (details.size() >= MOST || text.length() > 1000) {
                break;
            }
            Matcher processor = PROCESSOR.matcher(text);
            Matcher blocked = BLOCKED.matcher(text);
            Matcher starved = STARVED.matcher(text);
            Matcher timer = TIMER.matcher(text);
            if (processor.lookingAt()) {
                details.add(processor(processor));
            } else if (blocked.find()) {
                Matcher task = TASK.matcher(blocked.group("tasks"));
                while (task.find() && details.size() < MOST) {
                    details.add(
                            ("task %s was preempted inside of a read-side critical section,"
                                            + " and did not run on")
                                    .formatted(task.group("pid")));
                }
            } else if (starved.find()) {
                String cpu = starved.group("cpu");
                details.add(
                        ("the thread %s got no processor for %s jiffies%s: a task of higher "
                                        + "priority"
                                        + " or a loop keeps it from running, and the stall may "
                                        + "follow"
                                        + " from that")
                                .formatted(
                                        starved.group("thread"),
                                        starved.group("jiffies"),
                                        cpu == null ? "" : " (it was on CPU " + cpu + ")"));
            } else if (timer.find()) {
                details.add(
                        ("the timer of the thread %s did not fire for %s jiffies:"
                                        + " timer interrupts are lost")
                                .formatted(timer.group("thread"), timer.group("jiffies")));
            }
        }
        spins(lines, rules, details);
        return details;
    }

    private static String processor(Matcher found) {
        long count = Long.parseLong(found.group("count"));
        String cpu = "CPU " + found.group("cpu");
        String work = found.group("work");
        boolean isOff = work != null && Character.isDigit(work.charAt(0));
        if (!found.group("unit").startsWith("ticks")) {
            return cpu
                    + " has missed %d grace periods: it told RCU nothing in that time"
                            .formatted(count);
        }
        return count == 0 || isOff
                ? cpu
                        + (" answers no interrupts (%d timer ticks in this grace period):"
                                        + " they are off, or the processor does not run")
                                .formatted(count)
                : cpu
                        + (" runs and takes timer interrupts (%d ticks in this grace"
                                        + " period), but never passes a quiescent state")
                                .formatted(count);
    }

    /** A processor that waits for a spinlock is not the one that is to blame. */
    private static void spins(List<LogLine> lines, BlameRules rules, List<String> details) {
        LogFrame top = null;
        for (LogLine line : lines) {
            if (top == null) {
                top = LogFrame.top(line.text());
                if (top != null && !SPINS.matcher(top.function()).matches()) {
                    return;
                }
                continue;
            }
            for (LogFrame frame : LogFrame.sure(LogFrame.of(line.text()))) {
                if (rules.skips(frame.function(), Set.of("lock")).isEmpty()) {
                    details.add(
                            ("the processor waits for a spinlock, in %s:"
                                            + " whoever holds the lock is to blame")
                                    .formatted(frame.shown()));
                    return;
                }
            }
        }
    }
}
