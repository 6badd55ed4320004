package sonde.tools.report;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import sonde.analysis.EventCounts;
import sonde.analysis.Threads;
import sonde.analysis.sched.ThreadState;
import sonde.event.result.Column;
import sonde.event.result.Listing;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.Timeline;
import sonde.event.result.Unit;
import sonde.format.bundle.Meta;
import sonde.tools.report.ReportOptions.Section;

/** Says where the time of a recording went. */
public final class ReportRecipe {
    /** The groups that sonde probe and perf probe put theirs into. */
    private static final List<String> NAMED_PROBES = List.of("probe:*", "probe_*:*");

    private static final int TOP = 5;

    /** Of the user stacks: fewer cut ones are in the table, not in the notes. */
    private static final double WORTH_SAYING = 0.001;

    private static final int MAX_JVM_NOTES = 3;

    private final ReportOptions options;

    /** A report with these sections. */
    public ReportRecipe(ReportOptions options) {
        this.options = options;
    }

    /**
     * The screenful about a bundle, a trace.dat or a perf.data.
     *
     * @throws IOException when it cannot be read
     */
    public static Report summary(Path path) throws IOException {
        try (ReportSource source = ReportSource.open(path)) {
            return new ReportRecipe(ReportOptions.summary()).run(source);
        }
    }

    /**
     * A report with what its page needs besides.
     *
     * @param timeline at most 200 threads, the busiest, and 400,000 samples of each kind, thinned
     *     as the notes say
     */
    public record Page(Report report, Timeline timeline) {}

    /** As {@link #run}, with the timeline. */
    public Page page(ReportSource source) throws IOException {
        Findings found = new Findings(source, options);
        Report report = report(source, found);
        TimelineMaker maker = new TimelineMaker(found, found.weightUnit());
        Timeline timeline = maker.timeline();
        List<String> notes = new ArrayList<>(report.notes());
        notes.addAll(maker.notes());
        return new Page(new Report(report.title(), notes, report.sections()), timeline);
    }

    /**
     * Reads the recording once and makes the sections asked for.
     *
     * @throws NothingMatchesException when the options leave nothing of it
     */
    public Report run(ReportSource source) throws IOException {
        return report(source, new Findings(source, options));
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

    /** What to say of a word that is no field of a listing, with the nearest that are. */
    public static String noField(String word) {
        return Matches.noField(word);
    }

    /** What the headers of a recording say; its events are not read. */
    public Report header(ReportSource source) {
        return HeaderSections.of(source);
    }

    Report report(ReportSource source, Findings found) throws NothingMatchesException {
        if (options.isFiltered() && found.isEmpty()) {
            throw Matches.noThread(found, options);
        }
        Matches.checkEvents(
                found.counts.counts().stream().map(EventCounts.Count::type).toList(),
                options.events());
        List<Result> sections = new ArrayList<>();
        Sections all = new Sections(found, options.rows(), options.stacks());
        if (options.has(Section.SUMMARY)) {
            summary(source, found, sections);
        }
        if (options.has(Section.THREADS)) {
            sections.add(all.threads());
        }
        if (options.has(Section.ONCPU)) {
            sections.add(all.hottest());
            sections.add(all.onCpu("on-CPU stacks", found.weightUnit(), found.samples));
            sections.add(all.cutStacks());
        }
        if (options.has(Section.OFFCPU)) {
            sections.add(all.causes());
            sections.add(all.offCpu());
        }
        if (options.has(Section.SYSCALLS)) {
            CallSections calls = new CallSections(found, options.rows());
            sections.add(calls.all());
            if (found.shownThreads().size() > 1) {
                sections.add(calls.byThread());
            }
        }
        if (options.has(Section.IO)) {
            sections.add(all.io());
        }
        if (options.has(Section.FILES)) {
            sections.addAll(new FileSections(found, options.rows()).all());
        }
        if (options.has(Section.FAULTS)) {
            sections.add(all.onCpu("page faults", Unit.COUNT, found.faults));
        }
        if (options.has(Section.WAKEUPS)) {
            sections.addAll(all.wakeUps());
            sections.add(all.signals());
        }
        if (options.has(Section.LOSSES)) {
            sections.add(all.losses(source.meta()));
        }
        if (options.has(Section.STATS)) {
            sections.add(all.events(options.events()));
            if (source.meta() == null && !options.isNarrow()) {
                sections.addAll(HeaderSections.records(source));
            }
        }
        return new Report(source.name(), notes(source, found, all), sections);
    }

    private void summary(ReportSource source, Findings found, List<Result> sections) {
        if (found.knowsStates() || source.meta() != null) {
            sections.add(whereTimeWent(found));
        }
        Sections top = new Sections(found, TOP, options.stacks());
        Table files = new FileSections(found, TOP).top();
        for (Table table :
                List.of(
                        top.hottest(),
                        top.userCauses(),
                        new CallSections(found, TOP).all(),
                        files,
                        top.io())) {
            if (!table.rows().isEmpty()) {
                sections.add(table);
            }
        }
        Table probes = top.events(NAMED_PROBES);
        if (!probes.rows().isEmpty()) {
            sections.add(probes);
        }
        boolean other = source.meta() == null && !found.knowsStates();
        sections.addAll(new OutlineSections(found, TOP, options.stacks()).all(other));
        Table losses = top.losses(source.meta());
        if (!losses.rows().isEmpty()) {
            sections.add(losses);
        }
    }

    private static Table whereTimeWent(Findings found) {
        Rows rows =
                new Rows("where the time went")
                        .column("state", Unit.TEXT)
                        .column("time", Unit.NANOS)
                        .column("share", Unit.SHARE)
                        .column("most of it", Unit.TEXT);
        long all = 0;
        for (ThreadState state : ThreadState.values()) {
            all += found.total(state);
        }
        double whole = Math.max(all, 1);
        KernelTime inKernel = KernelTime.of(found);
        long kernel = inKernel.total();
        long running = found.total(ThreadState.RUNNING);
        rows.add("on CPU, user", running - kernel, (running - kernel) / whole, inKernel.mostUser());
        rows.add("on CPU, kernel", kernel, kernel / whole, inKernel.mostKernel());
        for (ThreadState state : ThreadState.values()) {
            long nanos = found.total(state);
            if (state != ThreadState.RUNNING && nanos > 0) {
                rows.add(state.label(), nanos, nanos / whole, top(found, state));
            }
        }
        return rows.table();
    }

    /** The thread with most of a state. */
    private static @Nullable String top(Findings found, ThreadState state) {
        long most = 0;
        int best = -1;
        for (int thread : found.shownThreads()) {
            // Kernel threads sleep all the time, unless there is nobody else.
            boolean runs = state == ThreadState.RUNNING || state == ThreadState.BLOCKED;
            if (!runs && best >= 0 && found.threads.isKernel(thread)) {
                continue;
            }
            boolean better =
                    best >= 0 && !runs && found.threads.isKernel(best)
                            || found.totals.nanos(thread, state) > most;
            if (better && found.totals.nanos(thread, state) > 0) {
                most = found.totals.nanos(thread, state);
                best = thread;
            }
        }
        return best < 0 ? null : found.threadName(best);
    }

    private List<String> notes(ReportSource source, Findings found, Sections all) {
        List<String> notes = new ArrayList<>();
        List<Integer> threads = found.shownThreads();
        long processes = threads.stream().map(found.threads::pid).distinct().count();
        long first = Long.MAX_VALUE;
        long last = Long.MIN_VALUE;
        for (int thread : threads) {
            first = Math.min(first, found.totals.first(thread));
            last = Math.max(last, found.totals.last(thread));
        }
        double wall = threads.isEmpty() ? 0 : (last - first) / 1e9;
        double cpu = found.total(ThreadState.RUNNING) / 1e9;
        boolean other = source.meta() == null && !found.knowsStates();
        notes.add(
                other
                        ? outline(found)
                        : text(
                                "%.3f s wall, %.3f s on CPU (%.2f CPUs busy), %s of %s, %s%s.",
                                wall,
                                cpu,
                                wall > 0 ? cpu / wall : 0,
                                counted(threads.size(), "thread", "threads"),
                                counted(processes, "process", "processes"),
                                counted(found.eventCount(), "event", "events"),
                                source.isMachine() ? " of the whole machine" : ""));
        if (other) {
            // Nothing in it says when threads ran.
        } else if (found.estimated) {
            notes.add(
                    "No switches were recorded: times on the CPU are estimated from samples,"
                            + " what lies between is unknown.");
        } else if (!found.states.sawSwitches() && !source.planned("sched:sched_switch", "switch")) {
            notes.add(
                    "No sched_switch was recorded: time off the CPU counts as running, in the"
                            + " kernel while in a system call.");
        } else if (!found.states.sawWakeups()
                && !source.planned("sched:sched_wakeup", "sched:sched_waking")) {
            notes.add("No wake-ups were recorded: waiting for a CPU counts as sleeping.");
        }
        kernelTime(source, found, notes);
        idle(found, threads, notes);
        recorder(source.meta(), found, wall, notes);
        if (options.has(Section.ONCPU)) {
            cutStacks(source, found, all.cutStacks().rows(), notes);
        }
        if (options.has(Section.FILES)) {
            notes.addAll(FileSections.notes(source.meta(), found));
        } else if (options.has(Section.SUMMARY)) {
            notes.addAll(FileSections.lossNotes(found));
        }
        notes.addAll(source.notes());
        jvmMaps(source.meta(), found, notes);
        if (options.has(Section.ONCPU) || options.has(Section.OFFCPU)) {
            notes.addAll(found.symbolNotes());
        }
        return notes;
    }

    /** What there is, of a recording that does not say when threads ran. */
    private static String outline(Findings found) {
        String events = counted(found.eventCount(), "event", "events");
        List<Integer> threads = found.threadsWithEvents();
        String whose =
                threads.isEmpty()
                        ? ""
                        : " of "
                                + counted(threads.size(), "thread", "threads")
                                + " in "
                                + counted(
                                        threads.stream().map(found.threads::pid).distinct().count(),
                                        "process",
                                        "processes");
        double seconds = found.events.extentNanos() / 1e9;
        if (seconds == 0) {
            return text("%s%s; it has no times.", events, whose);
        }
        return found.hasNanos()
                ? text("%s%s in %.3f s.", events, whose, seconds)
                : text(
                        "%s%s in %,d units of its own clock, no time.",
                        events, whose, found.events.extentNanos());
    }

    private static void kernelTime(ReportSource source, Findings found, List<String> notes) {
        KernelTime kernel = KernelTime.of(found);
        if (kernel.estimated()) {
            notes.add("System calls were lost: kernel time is estimated from samples.");
        } else if (kernel.total() == 0
                && found.total(ThreadState.RUNNING) > 0
                && !source.planned("raw_syscalls:sys_enter")) {
            notes.add("Nothing here tells kernel time from user time: all of it counts as user.");
        }
    }

    private static void cutStacks(
            ReportSource source,
            Findings found,
            List<List<@Nullable Object>> cut,
            List<String> notes) {
        double share = cut.stream().mapToDouble(row -> (Double) row.get(1)).sum();
        if (source.unwinding().isAny()) {
            notes.addAll(source.unwinding().notes(found.chainEnds.counts(found::shown)));
            return;
        }
        if (share < WORTH_SAYING) {
            return;
        }
        String remedy =
                " Compile with -fno-omit-frame-pointer, run Java with"
                        + " -XX:+PreserveFramePointer, or record with --call-graph dwarf.";
        notes.add(
                text(
                        "%.1f %% of user stacks are cut: frame pointers are off in %s.%s",
                        100 * share, modules(cut), remedy));
    }

    private static String modules(List<List<@Nullable Object>> cut) {
        List<String> first =
                cut.stream().limit(3).map(row -> String.valueOf(row.getFirst())).toList();
        return String.join(", ", first) + (cut.size() > 3 ? ", …" : "");
    }

    /** What the tables of time off the CPU leave out or put last. */
    private static void idle(Findings found, List<Integer> threads, List<String> notes) {
        long kernel = 0;
        long off = 0;
        for (int thread : threads) {
            if (found.threads.isKernel(thread)) {
                kernel++;
                long running = found.totals.nanos(thread, ThreadState.RUNNING);
                off += found.totals.wallNanos(thread) - running;
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
    private static void jvmMaps(@Nullable Meta meta, Findings found, List<String> notes) {
        List<Meta.JvmMap> maps = meta == null ? List.of() : meta.jvmMaps();
        for (Meta.JvmMap map : maps.subList(0, Math.min(MAX_JVM_NOTES, maps.size()))) {
            int thread = found.threads.find(map.pid());
            long end = thread < 0 ? Threads.NEVER : found.threads.died(thread);
            boolean lived = end > found.extent.last();
            double seconds = Math.max(0, Math.min(end, found.extent.last()) - map.atNanos()) / 1e9;
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
            @Nullable Meta meta, Findings found, double wall, List<String> notes) {
        if (meta == null || wall <= 0) {
            return;
        }
        long nanos = meta.recorder().cpuNanos();
        if (nanos < 0) {
            nanos = 0;
            for (int thread = 0; thread < found.threads.size(); thread++) {
                if (found.threads.isRecorder(thread)) {
                    nanos += found.totals.nanos(thread, ThreadState.RUNNING);
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
