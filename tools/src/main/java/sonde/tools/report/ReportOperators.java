package sonde.tools.report;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import sonde.analysis.Engine;
import sonde.analysis.EventCounts;
import sonde.analysis.EventCounts.TypeCount;
import sonde.analysis.LogLines;
import sonde.analysis.LossAccount;
import sonde.analysis.Operator;
import sonde.analysis.RecordedLosses;
import sonde.analysis.ThreadEvents;
import sonde.analysis.ThreadTable;
import sonde.analysis.TimeWindow;
import sonde.analysis.WholeTypesOnly;
import sonde.analysis.file.OpenFiles;
import sonde.analysis.sched.SampleDuration;
import sonde.analysis.sched.StateSlices;
import sonde.analysis.sched.StateTotals;
import sonde.analysis.sched.ThreadState;
import sonde.analysis.sched.ThreadStates;
import sonde.analysis.stack.CallTreeBuilder;
import sonde.analysis.stack.FrameSymbols;
import sonde.analysis.stack.ProcessSymbols;
import sonde.analysis.stack.SampleTypes;
import sonde.analysis.stack.StackAggregate;
import sonde.analysis.stack.StackTable;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.event.Recording;
import sonde.event.result.Frame;
import sonde.event.result.Result;
import sonde.event.result.Unit;
import sonde.exchange.export.SampleUnits;
import sonde.open.ReportSource;
import sonde.recording.bundle.JavaThreads;
import sonde.recording.bundle.RecordingMeta;
import sonde.symbol.resolve.MemoryAccess;
import sonde.symbol.resolve.SymbolResolver;
import sonde.symbol.unwind.UnwindEnd;
import sonde.sys.SyscallNames;
import sonde.tools.explain.RecordedIncidents;

/**
 * One pass over a recording and what the analyses found: those that every report needs, and those
 * that its sections ask for by an {@link AnalysisKey}.
 */
public final class ReportOperators {
    /** Samples of page faults. */
    public static final AnalysisKey<StackAggregate> FAULTS =
            new AnalysisKey<>(found ->
                    found.add(
                            StackAggregate.pageFaults(found.threads, found.stacks, found.window)));

    /** What the kernel's log reported. */
    public static final AnalysisKey<RecordedIncidents> INCIDENTS =
            new AnalysisKey<>(found -> {
                RecordedIncidents incidents = new RecordedIncidents();
                found.add(new LogLines(incidents, found.window));
                return incidents;
            });

    /** Events that were recorded with their stacks, by qualified name; each weighs one. */
    public static final AnalysisKey<Map<String, StackAggregate>> EVENT_STACKS =
            new AnalysisKey<>(ReportOperators::eventStacks);

    private static final Pattern FUTEX = Pattern.compile("(lock |futex )0x([0-9a-f]{1,16})");

    private final Map<String, String> variables = new HashMap<>();
    private final ReportSource source;
    private final ReportOptions options;
    private final TimeWindow window;
    private final boolean everything;
    private final SymbolResolver resolver;
    private final SampleDuration sampleTime;
    private final ThreadTable threads;
    private final CallTreeBuilder trees;
    private final StackTable stacks;
    private final StateTotals totals = new StateTotals();
    private final ThreadStates states;
    private final StackAggregate samples;
    private final RecordedLosses losses = new RecordedLosses();
    private final EventCounts counts = new EventCounts();
    private final ThreadEvents events;
    private final Engine.Extent extent;
    private final boolean estimated;
    private final Map<AnalysisKey<?>, Object> analyses = new IdentityHashMap<>();
    private final List<Operator> added = new ArrayList<>();
    private final List<StateSlices> addedStates = new ArrayList<>(List.of(totals));
    private List<String> lineNotes = List.of();

    /**
     * Reads the recording.
     *
     * @param needed analyses besides those that every report has
     * @param chains whether call chains will be shown
     */
    ReportOperators(
            ReportSource source,
            ReportOptions options,
            Collection<? extends AnalysisKey<?>> needed,
            boolean chains)
            throws IOException {
        this.source = source;
        this.options = options;
        RecordingMeta meta = source.meta();
        TimeWindow asked = window(source, options);
        TimeWindow recorded =
                meta == null
                        ? TimeWindow.ALL
                        : TimeWindow.recorded(meta.times().startNanos(), meta.times().endNanos());
        window = meta == null ? asked : asked.within(recorded);
        resolver = RecordedCode.resolver(source, options.stacks().detail());
        ProcessSymbols symbols =
                new ProcessSymbols(resolver.maps(), resolver::function, source.fileIds());
        everything = source.tree().all();
        threads = new ThreadTable(source.tree(), source.comms());
        FrameSymbols frames = frames(source, symbols);
        stacks = new StackTable(frames);
        trees = new CallTreeBuilder(stacks, frames);
        samples = StackAggregate.cpuSamples(threads, stacks, window);
        events = new ThreadEvents(threads, window);
        for (AnalysisKey<?> key : needed) {
            if (!analyses.containsKey(key)) {
                analyses.put(key, key.start(this));
            }
        }
        states = new ThreadStates(threads, stacks, window, addedStates);
        Operator whole = new WholeTypesOnly(states, source::lacksSwitches);
        List<Operator> operators = new ArrayList<>(List.of(threads, symbols, whole));
        operators.addAll(added);
        operators.addAll(List.of(samples, losses, counts, events));
        extent = read(source, operators, recorded);
        if (frames == symbols) {
            name(chains, options.stacks().lines() || source.given().hasFiles());
        }
        sampleTime =
                SampleDuration.of(
                        source.recordings(),
                        counts.counts().stream().map(TypeCount::type).toList());
        estimated = states.estimate(samples, sampleTime, extent);
        if (meta != null) {
            boolean switches = source.planned("sched:sched_switch", "switch");
            states.silent(
                    meta.times().startNanos(),
                    Math.max(meta.times().endNanos(), extent.last()),
                    switches ? ThreadState.SLEEPING : ThreadState.UNKNOWN);
        }
    }

    private static Engine.Extent read(
            ReportSource source, List<Operator> operators, TimeWindow recorded) throws IOException {
        int spare = Math.min(Runtime.getRuntime().availableProcessors() - 1, 4);
        source.sampleFields(false); // no operator of these asks for them
        try {
            return Engine.run(source.recordings(), operators, spare, recorded);
        } finally {
            source.sampleFields(true);
        }
    }

    /** Names the kernel's functions, and all lines and inlined calls that are wanted. */
    private void name(boolean chains, boolean tellsMissing) {
        long[] locations = stacks.locations();
        resolver.settleKernel(locations);
        if (chains && options.stacks().detail().isWanted()) {
            trees.places(resolver.places(locations));
            lineNotes = tellsMissing ? resolver.lineNotes() : List.of();
            resolver.close();
        }
    }

    private static Map<String, StackAggregate> eventStacks(ReportOperators found) {
        Map<String, StackAggregate> sums = new TreeMap<>();
        found.types()
                .map(EventType::qualifiedName)
                .filter(found.source::isStacked)
                .forEach(name ->
                        sums.computeIfAbsent(
                                name,
                                _ ->
                                        found.add(
                                                StackAggregate.ofType(
                                                        name,
                                                        found.threads,
                                                        found.stacks,
                                                        found.window))));
        return sums;
    }

    /** Adds an operator to those that see the rows; for {@link AnalysisKey}. */
    public <O extends Operator> O add(O operator) {
        added.add(operator);
        return operator;
    }

    /** Adds a consumer of the states of threads; for {@link AnalysisKey}. */
    public <S extends StateSlices> S addStates(S consumer) {
        addedStates.add(consumer);
        return consumer;
    }

    /**
     * The analysis of a key.
     *
     * @throws IllegalStateException when no section of this report needs it
     */
    @SuppressWarnings("unchecked") // the key made it
    public <T> T of(AnalysisKey<T> key) {
        Object analysis = analyses.get(key);
        if (analysis == null) {
            throw new IllegalStateException("a section uses an analysis that its needs() lacks");
        }
        return (T) analysis;
    }

    /** What the report was asked for. */
    public ReportOptions options() {
        return options;
    }

    /** The part of the recording that counts. */
    public TimeWindow window() {
        return window;
    }

    /** All threads. */
    public ThreadTable threads() {
        return threads;
    }

    /** The time of each thread by state. */
    public StateTotals totals() {
        return totals;
    }

    /** The states themselves. */
    public ThreadStates states() {
        return states;
    }

    /** Samples of what ran. */
    public StackAggregate samples() {
        return samples;
    }

    /** Notices of losses. */
    public RecordedLosses notices() {
        return losses;
    }

    /** What is missing, by the notices among the rows and by the recorder's account. */
    public LossAccount losses() {
        return new LossAccount(losses, source.losses());
    }

    /** The number of rows of each event type. */
    public EventCounts counts() {
        return counts;
    }

    /** The number of rows of each thread. */
    public ThreadEvents events() {
        return events;
    }

    /** All call chains. */
    public StackTable stacks() {
        return stacks;
    }

    /** The frames of call chains. */
    public CallTreeBuilder trees() {
        return trees;
    }

    /** The time of the first and last row. */
    public Engine.Extent extent() {
        return extent;
    }

    /** Whether states were estimated from samples. */
    public boolean isEstimated() {
        return estimated;
    }

    /** Whether the recording is of the whole machine. */
    public boolean isOfEverything() {
        return everything;
    }

    /** The description that sonde wrote; null when another tool recorded. */
    public @Nullable RecordingMeta meta() {
        return source.meta();
    }

    /** The system calls of the machine that recorded. */
    public SyscallNames callNames() {
        return source.syscalls();
    }

    /** {@code "lock 0x5591"} with the variable of the thread's program in place of its address. */
    public String variable(int thread, String object) {
        Matcher futex = FUTEX.matcher(object);
        if (!futex.matches()) {
            return object;
        }
        int pid = threads.pid(thread);
        long address = Long.parseUnsignedLong(futex.group(2), 16);
        String name =
                variables.computeIfAbsent(
                        pid + " " + address, _ -> resolver.variable(pid, address));
        return name.isEmpty() ? object : futex.group(1) + name;
    }

    /** What the code just before a chain's callee does to memory; empty when unknown. */
    public Optional<MemoryAccess> accessBefore(int node) {
        boolean isFile = !isKernel(node) && trees.frame(node).kind() == Frame.Kind.USER;
        return isFile ? resolver.accessBefore(stacks.location(node)) : Optional.empty();
    }

    /** What JVMs said of their threads, in the order of time. */
    public List<JavaThreads> javaThreads() {
        return source.javaThreads();
    }

    /** What /proc showed of processes. */
    public List<OpenFiles> openFiles() {
        return source.openFiles();
    }

    /** Every event type of the recording. */
    public Stream<EventType> types() {
        return source.recordings().stream()
                .flatMap(recording -> recording.sources().stream())
                .flatMap(one -> one.types().stream());
    }

    /** The number of records of each kind, of each perf.data. */
    public List<Result> recordCounts() {
        return HeaderSections.records(source);
    }

    /** Whether user stacks were unwound here, from copies of their memory. */
    public boolean unwinds() {
        return source.unwinding().isAny();
    }

    /** What to say about chains that were unwound here. */
    public List<String> unwindingNotes(Map<UnwindEnd, Long> ends) {
        return source.unwinding().notes(ends);
    }

    /** The event whose counts a profile adds up; empty where rows are samples. */
    public String profiled() {
        return counts.counts().stream()
                .map(TypeCount::type)
                .filter(type -> type.system().equals(SampleTypes.PROFILE))
                .map(EventType::name)
                .findFirst()
                .orElse("");
    }

    /** A recording that names its frames itself is the only one of its report. */
    private static FrameSymbols frames(ReportSource source, FrameSymbols otherwise) {
        return source.recordings().stream()
                .map(Recording::frames)
                .filter(Objects::nonNull)
                .findFirst()
                .map(FrameSymbols::named)
                .orElse(otherwise);
    }

    /** cpu-clock's period is nanoseconds, that of cycles is not a time. */
    public Unit weightUnit() {
        boolean profiledTime =
                samples.total() != samples.count()
                        && SampleUnits.unit(profiled()).equals(SampleUnits.NANOSECONDS);
        return sampleTime.weightIsNanos() || profiledTime ? Unit.NANOS : Unit.COUNT;
    }

    /** Why modules have no names; complete when every frame was asked for. */
    List<String> symbolNotes() {
        List<String> notes = new ArrayList<>(resolver.notes());
        notes.addAll(lineNotes);
        return notes;
    }

    /** The part of a recording that was asked for. */
    static TimeWindow window(ReportSource source, ReportOptions options) throws IOException {
        Double from = options.fromSeconds();
        Double to = options.toSeconds();
        if (from == null && to == null) {
            return TimeWindow.ALL;
        }
        long first = source.firstTime();
        return new TimeWindow(
                from == null ? Long.MIN_VALUE : time(from, first),
                to == null ? Long.MAX_VALUE : time(to, first));
    }

    /** Seconds of the clock when that is after the start, else seconds from the start. */
    private static long time(double seconds, long first) {
        long nanos = (long) (seconds * 1e9);
        return nanos >= first ? nanos : first + nanos;
    }

    /** Whether a thread counts and was asked for; -1 is what names no thread. */
    public boolean shown(int thread) {
        if (thread < 0) {
            return options.tids().isEmpty() && options.comms().isEmpty();
        }
        return mayCount(thread)
                && (options.tids().isEmpty() || options.tids().contains(threads.tid(thread)))
                && ReportOptions.fits(options.comms(), threads.name(thread));
    }

    /** Whether a thread is one of those recorded. */
    public boolean mayCount(int thread) {
        return !threads.isRecorder(thread) && threads.countsFrom(thread) != ThreadTable.NEVER;
    }

    /** The threads to be shown that did anything, most running time first. */
    public List<Integer> shownThreads() {
        List<Integer> result = new ArrayList<>();
        for (int thread = 0; thread < threads.size(); thread++) {
            if (shown(thread) && totals.has(thread)) {
                result.add(thread);
            }
        }
        result.sort((one, other) -> {
            int order =
                    Long.compare(
                            totals.nanos(other, ThreadState.RUNNING),
                            totals.nanos(one, ThreadState.RUNNING));
            return order != 0 ? order : Integer.compare(one, other);
        });
        return result;
    }

    /** Whether the recording's clock counts time. */
    public boolean hasNanos() {
        return counts.counts().stream()
                .map(count -> count.source().clock())
                .noneMatch(clock -> clock == Clock.COUNTER || clock == Clock.X86_TSC);
    }

    /** Whether anything tells when threads ran, and for how long. */
    public boolean knowsStates() {
        return hasNanos() && !shownThreads().isEmpty();
    }

    /** The threads to be shown that any row names. */
    public List<Integer> threadsWithEvents() {
        List<Integer> result = new ArrayList<>();
        for (int thread = 0; thread < threads.size(); thread++) {
            if (shown(thread) && events.rows(thread) > 0) {
                result.add(thread);
            }
        }
        return result;
    }

    /** Whether the filters leave nothing. */
    public boolean isEmpty() {
        for (int thread = 0; thread < threads.size(); thread++) {
            if (shown(thread) && (totals.has(thread) || events.rows(thread) > 0)) {
                return false;
            }
        }
        return true;
    }

    /** The rows of the threads to be shown; of a whole machine also those of no thread. */
    public long eventCount() {
        long sum = everything && !options.isFiltered() ? events.nobodys() : 0;
        for (int thread = 0; thread < threads.size(); thread++) {
            sum += shown(thread) ? events.rows(thread) : 0;
        }
        return sum;
    }

    /** Sum over the threads to be shown. */
    public long total(ThreadState state) {
        long sum = 0;
        for (int thread : shownThreads()) {
            sum += totals.nanos(thread, state);
        }
        return sum;
    }

    /** As in {@link #threadName}, of all threads of a name together. */
    public String wakerName(int thread) {
        return threads.isRecorder(thread) ? "recorder" : threads.name(thread);
    }

    /** The name of a thread; that of the recording for what names none. */
    public String comm(int thread) {
        return thread < 0 ? "[all]" : threads.name(thread);
    }

    /** "gzip 4711"; "recorder" for sonde's own threads, "interrupt" for -1. */
    public String threadName(int thread) {
        if (thread < 0) {
            return "interrupt";
        }
        return threads.isRecorder(thread) ? "recorder" : commAndTid(thread);
    }

    private String commAndTid(int thread) {
        return threads.name(thread) + " " + threads.tid(thread);
    }

    /** Whether a chain ends in the kernel. */
    public boolean isKernel(int node) {
        return node >= 0 && trees.frame(node).kind() == Frame.Kind.KERNEL;
    }
}
