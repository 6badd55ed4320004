package sonde.tools.report;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.analysis.EventCounts.TypeCount;
import sonde.analysis.ThreadTable;
import sonde.analysis.sched.ThreadState;
import sonde.event.EventType;
import sonde.event.result.Column;
import sonde.event.result.Listing;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.Timeline;
import sonde.event.result.Unit;
import sonde.open.ReportSource;
import sonde.recording.bundle.RecordingMeta;
import sonde.view.NumberText;

/** Says where the time of a recording went. */
public final class ReportRecipe {
    private static final long MILLISECOND = 1_000_000;

    private static final int MAX_JVM_NOTES = 3;
    private static final int MAX_CALLS = 5;

    private static final String LOSSES = "losses";
    private static final String ENTER = "sys_enter_";

    private final ReportOptions options;

    /** A report with these sections. */
    public ReportRecipe(ReportOptions options) {
        this.options = options;
    }

    /**
     * A report with what its page needs besides.
     *
     * @param timeline a track for each of the busiest threads and one for the others; samples and
     *     spans are added up where there are too many, so that their sums are those of the report
     */
    public record ReportPage(Report report, Timeline timeline) {}

    /** As {@link #run}, with the timeline. */
    public ReportPage page(ReportSource source) throws IOException {
        List<AnalysisKey<?>> needed = needed();
        needed.addAll(TimelineMaker.NEEDS);
        ReportOperators found = new ReportOperators(source, options, needed, true);
        Report report = report(source, found);
        TimelineMaker maker = new TimelineMaker(found);
        Timeline timeline = maker.timeline();
        List<String> notes = new ArrayList<>(report.notes());
        notes.addAll(maker.notes());
        return new ReportPage(
                new Report(report.title(), report.answer(), notes, inOrder(report)), timeline);
    }

    /** Each table once, the longest of its title; what was lost comes first. */
    private static List<Result> inOrder(Report report) {
        Map<String, Result> sections = new LinkedHashMap<>();
        report.sections().forEach(section -> sections.put(section.title(), section));
        List<Result> ordered = new ArrayList<>(sections.values());
        ordered.sort(
                Comparator.comparing(section ->
                        !(section instanceof Table table
                                && table.title().equals(LOSSES)
                                && !table.rows().isEmpty())));
        return ordered;
    }

    /**
     * Reads the recording once and makes the sections asked for.
     *
     * @throws NothingMatchesException when the options leave nothing of it
     */
    public Report run(ReportSource source) throws IOException {
        boolean chains = options.showsChains();
        return report(source, new ReportOperators(source, options, needed(), chains));
    }

    private List<AnalysisKey<?>> needed() {
        List<AnalysisKey<?>> needed = new ArrayList<>();
        options.sections().forEach(section -> needed.addAll(section.needs()));
        return needed;
    }

    /**
     * The events themselves, a line each; read while they are written, so {@code source} stays open
     * until then.
     */
    public Listing events(ReportSource source) {
        List<Column> columns =
                List.of(
                        new Column("time", Unit.TIMESTAMP),
                        new Column("cpu", Unit.ID),
                        new Column("tid", Unit.ID),
                        Column.text("comm"),
                        Column.text("event"),
                        Column.text("fields"));
        return new Listing("", columns, new EventRows(source, options));
    }

    /** What to say of a word that is not a field of a listing, with the nearest that are. */
    public static String noField(String word) {
        return NoMatchMessages.noField(word);
    }

    /** What the headers of a recording say; its events are not read. */
    public Report header(ReportSource source) {
        return HeaderSections.of(source);
    }

    Report report(ReportSource source, ReportOperators found) throws NothingMatchesException {
        if (options.isFiltered() && found.isEmpty()) {
            throw NoMatchMessages.noThread(found, options);
        }
        NoMatchMessages.checkEvents(
                found.counts().counts().stream().map(TypeCount::type).toList(), options.events());
        List<Result> results = new ArrayList<>();
        options.sections().forEach(section -> results.addAll(section.results(found)));
        List<String> answer =
                options.sections().stream()
                        .flatMap(section -> section.answer(found).stream())
                        .distinct()
                        .toList();
        return new Report(source.name(), answer, notes(source, found), results);
    }

    private List<String> notes(ReportSource source, ReportOperators found) {
        List<String> notes = new ArrayList<>();
        List<Integer> threads = found.shownThreads();
        long first = Long.MAX_VALUE;
        long last = Long.MIN_VALUE;
        for (int thread : threads) {
            first = Math.min(first, found.totals().first(thread));
            last = Math.max(last, found.totals().last(thread));
        }
        if (source.meta() instanceof RecordingMeta meta) {
            first = Math.max(first, meta.times().startNanos());
        }
        long nanos = threads.isEmpty() ? 0 : Math.max(0, last - first);
        double wall = nanos / 1e9;
        double cpu = found.total(ThreadState.RUNNING) / 1e9;
        // Of functions alone: nobody asked when threads ran.
        boolean functions =
                source.meta() != null
                        && source.planned("ftrace:funcgraph_entry", "ftrace:function")
                        && !source.planned("sched:sched_switch", "switch");
        boolean other = functions || source.meta() == null && !found.knowsStates();
        notes.add(
                other
                        ? outline(found)
                        : text(
                                "%s wall, %s on CPU (%.2f CPUs busy), %s, %s%s.",
                                seconds(nanos),
                                nanos < MILLISECOND
                                        ? seconds(found.total(ThreadState.RUNNING))
                                        : text("%.3f s", cpu),
                                wall > 0 ? cpu / wall : 0,
                                threads(found, threads, " of "),
                                counted(found.eventCount(), "event", "events"),
                                source.isMachine() ? " of the whole machine" : ""));
        if (!found.hasNanos() && !threads.isEmpty()) {
            notes.add(
                    "The clock of this recording counts events or cycles: times and durations are"
                            + " such counts, no nanoseconds.");
        }
        if (other) {
            // Nothing in it says when threads ran.
        } else if (found.isEstimated()) {
            notes.add(
                    "No switches were recorded: times on the CPU are estimated from samples,"
                            + " what lies between is unknown.");
        } else if (!found.states().sawSwitches()
                && !source.planned("sched:sched_switch", "switch")) {
            notes.add(
                    "No sched_switch was recorded: time off the CPU counts as running, in the"
                            + " kernel while in a system call.");
        } else if (!found.states().sawWakeups()
                && !source.planned("sched:sched_wakeup", "sched:sched_waking")) {
            notes.add("No wake-ups were recorded: waiting for a CPU counts as sleeping.");
        }
        if (!functions) {
            kernelTime(source, found, notes);
        }
        idle(found, threads, notes);
        recorder(source.meta(), found, wall, notes);
        options.sections().forEach(section -> notes.addAll(section.notes(found)));
        notes.addAll(source.notes());
        if (source.runtimeFrames().length == 0) {
            jvmMaps(source.meta(), found, notes);
        }
        if (options.sections().stream().anyMatch(ReportSection::explainsSymbols)) {
            notes.addAll(found.symbolNotes());
        }
        return notes;
    }

    /** What there is, of a recording that does not say when threads ran. */
    private static String outline(ReportOperators found) {
        String events = counted(found.eventCount(), "event", "events");
        List<Integer> threads = found.threadsWithEvents();
        String whose = threads.isEmpty() ? "" : " of " + threads(found, threads, " in ");
        long nanos = found.events().extentNanos();
        if (nanos == 0) {
            boolean timed = found.eventCount() == 0 || found.events().isTimed();
            return events + whose + (timed ? "." : "; it has no times.");
        }
        return found.hasNanos()
                ? text("%s%s in %s.", events, whose, seconds(nanos))
                : text(
                        "%s%s in %,d units of its own clock, no time.",
                        events, whose, found.events().extentNanos());
    }

    private static String seconds(long nanos) {
        return nanos > 0 && nanos < MILLISECOND
                ? NumberText.text(Unit.NANOS, nanos, true)
                : text("%.3f s", nanos / 1e9);
    }

    /** How many they are, and of how many processes where that was recorded of each. */
    private static String threads(ReportOperators found, List<Integer> threads, String of) {
        String all = counted(threads.size(), "thread", "threads");
        long processes = threads.stream().map(found.threads()::pid).distinct().count();
        boolean told = threads.stream().allMatch(found.threads()::isProcessTold);
        return told ? all + of + counted(processes, "process", "processes") : all;
    }

    private static void kernelTime(ReportSource source, ReportOperators found, List<String> notes) {
        KernelTime kernel = KernelTime.of(found);
        if (kernel.estimated()) {
            notes.add("System calls were lost: kernel time is estimated from samples.");
        } else if (kernel.total() == 0
                && found.total(ThreadState.RUNNING) > 0
                && !source.planned("raw_syscalls:sys_enter")) {
            notes.add("No event separates kernel time from user time.");
        } else if (kernel.total() > 0) {
            singleCalls(found, notes);
        }
    }

    /** Calls that were recorded one by one may not be all. */
    private static void singleCalls(ReportOperators found, List<String> notes) {
        List<EventType> types = found.counts().counts().stream().map(TypeCount::type).toList();
        if (types.stream().anyMatch(type -> type.system().equals("raw_syscalls"))) {
            return;
        }
        List<String> calls =
                types.stream()
                        .filter(type -> type.system().equals("syscalls"))
                        .map(EventType::name)
                        .filter(name -> name.startsWith(ENTER))
                        .map(name -> name.substring(ENTER.length()))
                        .distinct()
                        .sorted()
                        .toList();
        if (!calls.isEmpty()) {
            String more = calls.size() > MAX_CALLS ? ", …" : "";
            notes.add(
                    text(
                            "Kernel time is that of %s (%s%s): a lower bound when there were"
                                    + " others.",
                            counted(calls.size(), "recorded system call", "recorded system calls"),
                            String.join(", ", calls.subList(0, Math.min(MAX_CALLS, calls.size()))),
                            more));
        }
    }

    /** What the tables of time off the CPU leave out or put last. */
    private static void idle(ReportOperators found, List<Integer> threads, List<String> notes) {
        long kernel = 0;
        long off = 0;
        for (int thread : threads) {
            if (found.threads().isKernel(thread)) {
                kernel++;
                long running = found.totals().nanos(thread, ThreadState.RUNNING);
                off += found.totals().wallNanos(thread) - running;
            }
        }
        if (kernel > 0) {
            notes.add(
                    text(
                            "Off CPU: programs first, those that wait for work (epoll_wait, futex,"
                                    + " nanosleep, …) after the others; %s with %.1f s"
                                    + " left out, --offcpu has them.",
                            counted(kernel, "kernel thread", "kernel threads"), off / 1e9));
        }
    }

    /** How old the names of compiled code are: what a JVM compiled later has none. */
    private static void jvmMaps(
            @Nullable RecordingMeta meta, ReportOperators found, List<String> notes) {
        List<RecordingMeta.JvmMap> maps = meta == null ? List.of() : meta.jvmMaps();
        for (RecordingMeta.JvmMap map : maps.subList(0, Math.min(MAX_JVM_NOTES, maps.size()))) {
            int thread = found.threads().find(map.pid());
            long end = thread < 0 ? ThreadTable.NEVER : found.threads().died(thread);
            boolean lived = end > found.extent().last();
            double seconds =
                    Math.max(0, Math.min(end, found.extent().last()) - map.atNanos()) / 1e9;
            notes.add(
                    text(
                            "Names of compiled code of JVM %d are %.1f s older than %s; what it"
                                    + " compiled in that time has none.",
                            map.pid(), seconds, lived ? "the recording's end" : "its end"));
        }
        if (maps.size() > MAX_JVM_NOTES) {
            notes.add("… and those of " + (maps.size() - MAX_JVM_NOTES) + " more JVMs.");
        }
    }

    private static void recorder(
            @Nullable RecordingMeta meta, ReportOperators found, double wall, List<String> notes) {
        if (meta == null || wall <= 0) {
            return;
        }
        long nanos = meta.recorder().cpuNanos();
        if (nanos < 0) {
            nanos = 0;
            for (int thread = 0; thread < found.threads().size(); thread++) {
                if (found.threads().isRecorder(thread)) {
                    nanos += found.totals().nanos(thread, ThreadState.RUNNING);
                }
            }
        }
        String share = wall < 1 ? "" : text(" (%.1f %% of one)", nanos / wall / 1e7);
        notes.add(text("Recorder: %.2f s of CPU%s, its events are left out.", nanos / 1e9, share));
    }

    private static String counted(long count, String one, String many) {
        return text("%,d %s", count, count == 1 ? one : many);
    }

    private static String text(String format, Object... arguments) {
        return String.format(Locale.ROOT, format, arguments);
    }
}
