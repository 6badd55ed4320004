package sonde.tools.explain;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What the kernel's lists of tasks, processors and memory say: the answers to SysRq. */
final class TaskDump {
    private static final int MOST_GROUPS = 20;
    private static final int MOST_NAMES = 4;

    /** sched_show_task() since Linux 5.14, and before. */
    private static final Pattern TASK =
            Pattern.compile(
                    "^task:(?<task>.{1,64}?) +state:(?<state>[A-Z]).*? pid:(?<pid>\\d{1,10}) "
                            + "|^(?<old>\\S.{0,63}?) +(?<oldstate>[RSDTtXZPIKW]) .*? "
                            + "(?<oldpid>\\d{1,7}) +\\d+ 0x[0-9a-f]{8}");

    private static final Pattern PROCESSOR =
            Pattern.compile(
                    "^CPU: (?<cpu>\\d{1,5}) (?:UID: \\d+ )?PID: (?<pid>\\d{1,10}) Comm: "
                            + "(?<task>.{1,64}?) (?:Tainted:|Not tainted)");

    private static final Pattern IDLE =
            Pattern.compile("^NMI backtrace for cpu (?<cpu>\\d{1,5}) skipped: idling");

    private static final Pattern ZONE =
            Pattern.compile(
                    "^(?:Node \\d+ )?(?<zone>\\w{1,16}) free:(?<free>\\d{1,15})kB "
                            + "(?:boost:\\d+kB )?min:(?<min>\\d{1,15})kB low:(?<low>\\d{1,15})kB");

    private static final Map<String, String> STATES =
            Map.of(
                    "D",
                    "uninterruptible",
                    "R",
                    "running",
                    "S",
                    "sleeping",
                    "I",
                    "idle",
                    "Z",
                    "zombie",
                    "T",
                    "stopped",
                    "X",
                    "dead",
                    "t",
                    "traced");

    /**
     * A task or processor and where it is.
     *
     * @param state empty for one that a processor runs
     */
    private record ListedTask(String who, String state, @Nullable LogFrame frame) {}

    private final BlameRules rules;
    private final List<ListedTask> places = new ArrayList<>();
    private final List<LogFrame> frames = new ArrayList<>();
    private final List<String> idle = new ArrayList<>();
    private String who = "";
    private String state = "";

    private TaskDump(BlameRules rules) {
        this.rules = rules;
    }

    /** Sentences about tasks, processors and zones of memory. */
    static List<String> of(List<LogLine> lines, BlameRules rules) {
        TaskDump dump = new TaskDump(rules);
        List<String> sentences = new ArrayList<>();
        for (LogLine line : lines) {
            dump.take(line.text());
            zone(line.text(), sentences);
        }
        dump.end();
        sentences.addAll(dump.sentences());
        return sentences;
    }

    /** Sentences about zones of memory alone. */
    static List<String> zones(List<LogLine> lines) {
        List<String> sentences = new ArrayList<>();
        lines.forEach(line -> zone(line.text(), sentences));
        return sentences;
    }

    private void take(String text) {
        Matcher task = text.contains(" state:") || text.contains(" 0x") ? TASK.matcher(text) : null;
        Matcher processor = text.startsWith("CPU: ") ? PROCESSOR.matcher(text) : null;
        Matcher idles = text.startsWith("NMI ") ? IDLE.matcher(text) : null;
        if (task != null && task.lookingAt()) {
            end();
            boolean isNew = task.group("task") != null;
            String pid = task.group(isNew ? "pid" : "oldpid");
            who = task.group(isNew ? "task" : "old").strip() + " (pid " + pid + ")";
            state = task.group(isNew ? "state" : "oldstate");
        } else if (processor != null && processor.lookingAt()) {
            end();
            who =
                    "CPU %s runs %s (pid %s)"
                            .formatted(
                                    processor.group("cpu"),
                                    processor.group("task"),
                                    processor.group("pid"));
            state = "";
        } else if (idles != null && idles.lookingAt()) {
            end();
            idle.add(idles.group("cpu"));
        } else if (!who.isEmpty()) {
            LogFrame top = LogFrame.top(text);
            frames.addAll(top == null ? LogFrame.sure(LogFrame.of(text)) : List.of(top));
        }
    }

    /** Ends the stack of a task. */
    private void end() {
        if (!who.isEmpty()) {
            LogFrame place = null;
            for (LogFrame frame : frames) {
                boolean isOwn = rules.skips(frame.function(), Set.of("hang", "sleep")).isEmpty();
                boolean isReport =
                        frame.function().startsWith("nmi_")
                                || frame.function().startsWith("sched_show");
                if (place == null && isOwn && !isReport) {
                    place = frame;
                }
            }
            places.add(new ListedTask(who, state, place));
        }
        who = "";
        frames.clear();
    }

    /** Tasks in the same state and function together; those that cannot be woken first. */
    private List<String> sentences() {
        List<String> sentences = new ArrayList<>();
        Map<String, List<ListedTask>> groups = new LinkedHashMap<>();
        for (ListedTask place : places) {
            LogFrame frame = place.frame();
            String at = frame == null ? "a place without a stack" : frame.shown();
            if (place.state().isEmpty()) {
                sentences.add(place.who() + " in " + at);
                continue;
            }
            String word = STATES.getOrDefault(place.state(), "unknown");
            String key = "in state %s (%s) at %s".formatted(place.state(), word, at);
            groups.computeIfAbsent(key, _ -> new ArrayList<>()).add(place);
        }
        if (!idle.isEmpty()) {
            sentences.add("idle processors: " + String.join(", ", idle));
        }
        Comparator<Map.Entry<String, List<ListedTask>>> order =
                Comparator.comparing(one -> !one.getKey().startsWith("in state D"));
        List<Map.Entry<String, List<ListedTask>>> sorted =
                groups.entrySet().stream()
                        .sorted(order.thenComparing(one -> -one.getValue().size()))
                        .toList();
        for (Map.Entry<String, List<ListedTask>> one :
                sorted.subList(0, Math.min(sorted.size(), MOST_GROUPS))) {
            List<String> names = one.getValue().stream().map(ListedTask::who).toList();
            int more = names.size() - MOST_NAMES;
            sentences.add(
                    String.join(", ", names.subList(0, Math.min(names.size(), MOST_NAMES)))
                            + (more > 0 ? " and " + more + " more" : "")
                            + (names.size() == 1 ? " is " : " are ")
                            + one.getKey());
        }
        if (sorted.size() > MOST_GROUPS) {
            sentences.add("%d further groups of tasks".formatted(sorted.size() - MOST_GROUPS));
        }
        return sentences;
    }

    private static void zone(String text, List<String> sentences) {
        Matcher zone =
                text.contains(" free:") || text.contains("free:") ? ZONE.matcher(text) : null;
        if (zone == null || !zone.lookingAt()) {
            return;
        }
        long free = Long.parseLong(zone.group("free"));
        String below =
                free < Long.parseLong(zone.group("min"))
                        ? "below its watermark min (%s kB): only the kernel itself still gets pages"
                                .formatted(zone.group("min"))
                        : free < Long.parseLong(zone.group("low"))
                                ? "below its watermark low (%s kB): pages are reclaimed"
                                        .formatted(zone.group("low"))
                                : "above its watermark low (%s kB)".formatted(zone.group("low"));
        sentences.add("zone %s has %d kB free, %s".formatted(zone.group("zone"), free, below));
    }
}
