package sonde.tools.report;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import sonde.analysis.Engine;
import sonde.analysis.EventCounts;
import sonde.analysis.Losses;
import sonde.analysis.Operator;
import sonde.analysis.Signals;
import sonde.analysis.ThreadEvents;
import sonde.analysis.Threads;
import sonde.analysis.Window;
import sonde.analysis.block.BlockIo;
import sonde.analysis.file.Files;
import sonde.analysis.outline.CounterSums;
import sonde.analysis.outline.Flows;
import sonde.analysis.outline.SpanSums;
import sonde.analysis.sched.OffCpu;
import sonde.analysis.sched.OffSpans;
import sonde.analysis.sched.StateTotals;
import sonde.analysis.sched.ThreadState;
import sonde.analysis.sched.ThreadStates;
import sonde.analysis.sched.Tracks;
import sonde.analysis.sched.WakeUps;
import sonde.analysis.slice.NamedSlices;
import sonde.analysis.stack.ChainEnds;
import sonde.analysis.stack.ProcessSymbols;
import sonde.analysis.stack.SampleTypes;
import sonde.analysis.stack.StackSums;
import sonde.analysis.stack.StackTable;
import sonde.analysis.stack.Symbols;
import sonde.analysis.stack.Trees;
import sonde.analysis.syscall.Syscalls;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.event.Recording;
import sonde.event.Source;
import sonde.event.result.Frame;
import sonde.event.result.Unit;
import sonde.format.bundle.Meta;
import sonde.symbol.KernelRun;
import sonde.symbol.KernelSymbols;
import sonde.symbol.ProcessMaps;
import sonde.symbol.SymbolOptions;
import sonde.symbol.Symbolizer;
import sonde.symbol.files.GivenPlaces;
import sonde.symbol.line.CodePlaces;
import sonde.symbol.line.KernelCode;

/** One pass over a recording and what every operator found. */
final class Findings {
    final Threads threads;
    final StateTotals totals = new StateTotals();
    final OffCpu offCpu = new OffCpu();
    final WakeUps wakeUps = new WakeUps();
    final Tracks tracks = new Tracks();
    final OffSpans offSpans = new OffSpans();
    final ThreadStates states;
    final Syscalls calls;
    final BlockIo io;
    final Files files;
    final Signals signals;
    final StackSums samples;
    final StackSums faults;
    final Losses losses = new Losses();
    final EventCounts counts = new EventCounts();
    final SpanSums spans;
    final CounterSums counters;
    final Flows flows;

    /** Of types that are samples, but not of CPUs or page faults, by qualified name. */
    final Map<String, StackSums> otherSamples = new TreeMap<>();

    final ThreadEvents events;
    final ChainEnds chainEnds;
    final Trees trees;
    final StackTable stacks;
    final Engine.Extent extent;
    final sonde.sys.Syscalls callNames;

    /** Whether states are not known but made of samples. */
    final boolean estimated;

    /** Calls in which programs wait for something to do. */
    private static final Set<String> IDLE_CALLS =
            Set.of(
                    "epoll_wait",
                    "epoll_pwait",
                    "epoll_pwait2",
                    "poll",
                    "ppoll",
                    "select",
                    "pselect6",
                    "futex",
                    "futex_waitv",
                    "nanosleep",
                    "clock_nanosleep",
                    "pause",
                    "rt_sigsuspend",
                    "rt_sigtimedwait",
                    "restart_syscall",
                    "io_getevents",
                    "io_uring_enter",
                    "wait4",
                    "waitid",
                    "accept",
                    "accept4");

    /** Types of samples shown by themselves. */
    private static final int MOST_SAMPLED = 64;

    private final Symbolizer symbolizer;
    private List<String> lineNotes = List.of();
    private final ReportOptions options;
    private final boolean everything;

    Findings(ReportSource source, ReportOptions options) throws IOException {
        this.options = options;
        Window window = window(source, options);
        ProcessMaps maps = new ProcessMaps();
        SymbolOptions from = source.symbolOptions();
        KernelSymbols kernel = RecordedKernel.symbols(source, from);
        symbolizer = new Symbolizer(maps, kernel, from);
        symbolizer.perfMapsFrom(pid -> LeftPerfMaps.read(source, pid));
        source.jvmMaps().forEach((pid, text) -> symbolizer.addPerfMap(pid, 0, text));
        ProcessSymbols symbols = new ProcessSymbols(maps, symbolizer::frame, source.fileIds());
        everything = source.tree().all();
        threads = new Threads(source.tree(), source.comms());
        Symbols frames = frames(source, symbols);
        stacks = new StackTable(frames);
        trees = new Trees(stacks, frames);
        states =
                new ThreadStates(
                        threads,
                        stacks,
                        window,
                        List.of(totals, offCpu, wakeUps, tracks, offSpans));
        calls = new Syscalls(threads, window);
        io = new BlockIo(threads, window);
        files = new Files(threads, window, source.syscalls()::numberOf, source.openFiles());
        signals = new Signals(threads, window);
        samples = StackSums.cpuSamples(threads, stacks, window);
        faults = StackSums.pageFaults(threads, stacks, window);
        events = new ThreadEvents(threads, window);
        chainEnds = new ChainEnds(threads, window);
        callNames = source.syscalls();
        spans = new SpanSums(window, this::shown);
        counters = new CounterSums(window);
        flows = new Flows(window);
        List<Operator> operators =
                new ArrayList<>(
                        List.of(
                                threads, symbols, states, calls, io, files, signals, samples,
                                faults, losses, counts, events, chainEnds));
        operators.addAll(outline(source, window));
        extent = read(source, operators);
        if (frames == symbols) {
            KernelRun ran = RecordedKernel.run(source, kernel, maps.kernel());
            GivenPlaces given = source.given();
            name(maps, from, new KernelCode(ran, from, given.vmlinux()), given);
        }
        boolean timed = extent.last() > extent.first();
        estimated = timed && states.estimate(samples, weightUnit() == Unit.NANOS);
        Meta meta = source.meta();
        if (meta != null) {
            boolean switches = source.planned("sched:sched_switch", "switch");
            states.silent(
                    meta.times().startNanos(),
                    Math.max(meta.times().endNanos(), extent.last()),
                    switches ? ThreadState.SLEEPING : ThreadState.UNKNOWN);
        }
    }

    private static Engine.Extent read(ReportSource source, List<Operator> operators)
            throws IOException {
        int spare = Math.min(Runtime.getRuntime().availableProcessors() - 1, 4);
        source.sampleFields(false); // no operator of these asks for them
        try {
            return Engine.run(source.recordings(), operators, spare);
        } finally {
            source.sampleFields(true);
        }
    }

    /** Names the kernel's functions, and all lines and inlined calls that are wanted. */
    private void name(ProcessMaps maps, SymbolOptions from, KernelCode kernel, GivenPlaces given) {
        symbolizer.kernel(kernel.symbols(stacks.locations()));
        StackOptions shown = options.stacks();
        if (shown.inlined() || shown.lines()) {
            long most = shown.lines() ? Long.MAX_VALUE : CodePlaces.QUICK_BYTES;
            try (CodePlaces places =
                    new CodePlaces(maps, from, shown.inlined(), shown.lines(), most, kernel)) {
                trees.places(places.of(stacks.locations()));
                boolean asked = shown.lines() || given.hasFiles();
                lineNotes = asked ? places.notes() : List.of();
            }
        }
    }

    /** What only some recordings have. */
    private List<Operator> outline(ReportSource source, Window window) {
        List<Operator> operators = new ArrayList<>();
        boolean named = false;
        for (Recording recording : source.recordings()) {
            for (Source of : recording.sources()) {
                for (EventType type : of.types()) {
                    named |=
                            type.system().equals("slice")
                                    || type.qualifiedName().equals("ftrace:funcgraph_entry");
                    boolean other =
                            SampleTypes.isSample(type)
                                    && !SampleTypes.isCpu(type)
                                    && !SampleTypes.isFault(type);
                    if (other && otherSamples.size() < MOST_SAMPLED) {
                        String name = type.qualifiedName();
                        otherSamples.computeIfAbsent(
                                name, key -> StackSums.ofType(key, threads, stacks, window));
                    }
                }
            }
        }
        if (named) {
            operators.add(new NamedSlices(threads, stacks::function, spans));
        }
        operators.add(counters);
        operators.add(flows);
        operators.addAll(otherSamples.values());
        return operators;
    }

    /** Whether rows are sums of samples, not samples. */
    final boolean isProfile() {
        return counts.counts().stream()
                .anyMatch(count -> count.type().system().equals(SampleTypes.PROFILE));
    }

    /** A recording that names its frames itself is the only one of its report. */
    private static Symbols frames(ReportSource source, Symbols otherwise) {
        return source.recordings().stream()
                .map(Recording::frames)
                .filter(Objects::nonNull)
                .findFirst()
                .map(Symbols::named)
                .orElse(otherwise);
    }

    /** cpu-clock's period is nanoseconds, that of cycles is not a time. */
    final Unit weightUnit() {
        boolean clock =
                counts.counts().stream()
                        .filter(count -> count.type().system().equals("perf"))
                        .anyMatch(count ->
                                count.type().name().startsWith("cpu-clock")
                                        || count.type().name().startsWith("task-clock"));
        return clock ? Unit.NANOS : Unit.COUNT;
    }

    /** Why modules have no names; complete when every frame was asked for. */
    List<String> symbolNotes() {
        List<String> notes = new ArrayList<>(symbolizer.notes());
        notes.addAll(lineNotes);
        return notes;
    }

    /** The part of a recording that was asked for. */
    static Window window(ReportSource source, ReportOptions options) throws IOException {
        Double from = options.fromSeconds();
        Double to = options.toSeconds();
        if (from == null && to == null) {
            return Window.ALL;
        }
        long first = source.firstTime();
        return new Window(
                from == null ? Long.MIN_VALUE : time(from, first),
                to == null ? Long.MAX_VALUE : time(to, first));
    }

    /** Seconds of the clock when that is after the start, else seconds from the start. */
    private static long time(double seconds, long first) {
        long nanos = (long) (seconds * 1e9);
        return nanos >= first ? nanos : first + nanos;
    }

    /** Whether a thread counts and was asked for; -1 is what names no thread. */
    boolean shown(int thread) {
        if (thread < 0) {
            return options.tids().isEmpty() && options.comms().isEmpty();
        }
        return mayCount(thread)
                && (options.tids().isEmpty() || options.tids().contains(threads.tid(thread)))
                && ReportOptions.fits(options.comms(), threads.name(thread));
    }

    /** Whether a thread is one of those recorded. */
    boolean mayCount(int thread) {
        return !threads.isRecorder(thread) && threads.countsFrom(thread) != Threads.NEVER;
    }

    /** The threads to be shown that did anything, most running time first. */
    List<Integer> shownThreads() {
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
    boolean hasNanos() {
        return counts.counts().stream().allMatch(count -> count.source().clock() != Clock.COUNTER);
    }

    /** Whether anything tells when threads ran. */
    boolean knowsStates() {
        return !shownThreads().isEmpty();
    }

    /** The threads to be shown that any row names. */
    List<Integer> threadsWithEvents() {
        List<Integer> result = new ArrayList<>();
        for (int thread = 0; thread < threads.size(); thread++) {
            if (shown(thread) && events.rows(thread) > 0) {
                result.add(thread);
            }
        }
        return result;
    }

    /** Whether the filters leave nothing. */
    boolean isEmpty() {
        for (int thread = 0; thread < threads.size(); thread++) {
            if (shown(thread) && (totals.has(thread) || events.rows(thread) > 0)) {
                return false;
            }
        }
        return true;
    }

    /** The rows of the threads to be shown; of a whole machine also those of no thread. */
    long eventCount() {
        long sum = everything && !options.isFiltered() ? events.nobodys() : 0;
        for (int thread = 0; thread < threads.size(); thread++) {
            sum += shown(thread) ? events.rows(thread) : 0;
        }
        return sum;
    }

    /** Sum over the threads to be shown. */
    long total(ThreadState state) {
        long sum = 0;
        for (int thread : shownThreads()) {
            sum += totals.nanos(thread, state);
        }
        return sum;
    }

    /** As in {@link #threadName}, of all threads of a name together. */
    String wakerName(int thread) {
        return threads.isRecorder(thread) ? "recorder" : threads.name(thread);
    }

    /** The name of a thread; that of the recording for what names none. */
    String comm(int thread) {
        return thread < 0 ? "[all]" : threads.name(thread);
    }

    /** "gzip 4711"; "recorder" for sonde's own threads, "interrupt" for -1. */
    String threadName(int thread) {
        if (thread < 0) {
            return "interrupt";
        }
        return threads.isRecorder(thread) ? "recorder" : commAndTid(thread);
    }

    private String commAndTid(int thread) {
        return threads.name(thread) + " " + threads.tid(thread);
    }

    /**
     * "sleeping in read", "waiting for CPU". Of a call that was entered before the recording or
     * outside it the stack tells the name, or the kernel's function.
     */
    String cause(OffCpu.Cause cause) {
        String state = cause.state().label();
        return switch (cause.state()) {
            case SLEEPING, BLOCKED, STOPPED -> {
                String call = callName(cause);
                String place = call.isEmpty() ? trees.waitsIn(cause.stack()) : call;
                yield place.isEmpty() ? state + ", nobody knows in what" : state + " in " + place;
            }
            case RUNNING, WAITING, PREEMPTED, UNKNOWN -> state;
        };
    }

    private String callName(OffCpu.Cause cause) {
        return cause.call() >= 0 ? callNames.nameOf(cause.call()) : trees.callOf(cause.stack());
    }

    /**
     * How a cause ranks among those of a whole machine: 0 for what kept a program from going on, 1
     * for what looks like waiting for work, 2 for kernel threads.
     */
    int rank(OffCpu.Cause cause) {
        if (threads.isKernel(cause.thread())) {
            return 2;
        }
        String call = callName(cause);
        boolean idle =
                cause.state() == ThreadState.SLEEPING
                        && (call.isEmpty() || IDLE_CALLS.contains(call));
        return everything && idle ? 1 : 0;
    }

    boolean isKernel(int node) {
        return node >= 0 && trees.frame(node).kind() == Frame.Kind.KERNEL;
    }
}
