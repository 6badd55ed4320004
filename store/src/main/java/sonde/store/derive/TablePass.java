package sonde.store.derive;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.analysis.Engine;
import sonde.analysis.EventCounts;
import sonde.analysis.EventCounts.TypeCount;
import sonde.analysis.LogIncident;
import sonde.analysis.LogLines;
import sonde.analysis.LossAccount;
import sonde.analysis.Operator;
import sonde.analysis.RecordedLosses;
import sonde.analysis.ThreadTable;
import sonde.analysis.TimeWindow;
import sonde.analysis.WholeTypesOnly;
import sonde.analysis.sched.SampleDuration;
import sonde.analysis.sched.ThreadStates;
import sonde.analysis.slice.NamedSlices;
import sonde.analysis.slice.NamedSlices.NamedSlice;
import sonde.analysis.stack.FrameSymbols;
import sonde.analysis.stack.ProcessSymbols;
import sonde.analysis.stack.StackAggregate;
import sonde.analysis.stack.StackTable;
import sonde.analysis.syscall.SyscallDurations;
import sonde.event.EventType;
import sonde.event.Recording;
import sonde.event.result.Frame;
import sonde.store.duckdb.SqlConnection;

/**
 * One pass over one recording that fills derived tables. The operators that number threads and call
 * chains run in every pass and in the same order, so that numbers of two passes agree.
 */
final class TablePass {
    private final TraceInput input;
    private final TraceNumbers target;
    private final Map<DerivedTable, RowAppender> rows = new EnumMap<>(DerivedTable.class);
    private final ProcessSymbols mappings;
    private final FrameSymbols symbols;
    private final StackTable stacks;
    private final ThreadTable threads;
    private int callers;

    private TablePass(TraceInput input, TraceNumbers target) {
        this.input = input;
        this.target = target;
        mappings = input.symbols().get();
        symbols = names(input.recordings(), mappings);
        stacks = new StackTable(symbols);
        threads = new ThreadTable(input.tree(), input.comms());
    }

    /** A recording that names its frames itself is the only one of its trace. */
    private static FrameSymbols names(List<Recording> recordings, FrameSymbols otherwise) {
        return recordings.stream()
                .map(Recording::frames)
                .filter(Objects::nonNull)
                .findFirst()
                .map(FrameSymbols::named)
                .orElse(otherwise);
    }

    /**
     * What a pass numbered.
     *
     * @param callsites number of nodes of call chains
     * @param callers number of their rows beside the nodes, for callers of inlined calls
     */
    record PassOutcome(ThreadTable threads, int callsites, int callers) {}

    static PassOutcome run(
            TraceInput input,
            TraceNumbers target,
            Set<DerivedTable> tables,
            SqlConnection connection)
            throws IOException {
        TablePass one = new TablePass(input, target);
        try {
            for (DerivedTable table : tables) {
                one.rows.put(table, new RowAppender(connection, table));
            }
            one.pass();
            return new PassOutcome(one.threads, one.stacks.size(), one.callers);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        } finally {
            for (RowAppender row : one.rows.values()) {
                row.close();
            }
        }
    }

    private void pass() throws IOException {
        StateRows states =
                new StateRows(
                        target,
                        threads,
                        input.callName(),
                        rows.get(DerivedTable.THREAD_STATE),
                        rows.get(DerivedTable.SCHED));
        SilentThreads silence = input.silence();
        TimeWindow recorded =
                silence == null
                        ? TimeWindow.ALL
                        : TimeWindow.recorded(silence.from(), silence.to());
        TimeWindow window = silence == null ? recorded : TimeWindow.ALL.within(recorded);
        OwnRows own = new OwnRows(target, threads, stacks, window);
        ThreadStates follower = new ThreadStates(threads, stacks, window, List.of(states));
        StackAggregate running = StackAggregate.cpuSamples(threads, stacks, window);
        EventCounts counts = new EventCounts();
        List<Operator> operators =
                new ArrayList<>(
                        List.of(
                                threads,
                                mappings,
                                new RowOperator(
                                        type -> true,
                                        (batch, row, type) -> threads.find(batch.tid(row))),
                                new WholeTypesOnly(follower, input.partial()),
                                own.samples(rows.get(DerivedTable.SAMPLE), input.stacked()),
                                running,
                                counts));
        RowAppender slices = rows.get(DerivedTable.SLICE);
        if (slices != null) {
            operators.add(syscalls(slices, window));
            operators.add(new NamedSlices(threads, stacks::function, span -> named(slices, span)));
        }
        add(operators, DerivedTable.LOSS, own::losses);
        RecordedLosses noticed = new RecordedLosses();
        add(operators, DerivedTable.LOSS, _ -> noticed);
        add(operators, DerivedTable.MAPPING, own::mappings);
        add(operators, DerivedTable.COUNTER, own::counters);
        add(operators, DerivedTable.LOG, own::logs);
        add(operators, DerivedTable.PACKET, own::packets);
        RowAppender reports = rows.get(DerivedTable.LOG_INCIDENT);
        LogIncident.IncidentSearch incidents = reports == null ? null : input.incidents().get();
        if (incidents != null) {
            operators.add(new LogLines(incidents, window));
        }
        int spare = Math.min(Runtime.getRuntime().availableProcessors() - 1, 4);
        Engine.Extent extent = Engine.run(input.recordings(), operators, spare, recorded);
        List<EventType> types = counts.counts().stream().map(TypeCount::type).toList();
        follower.estimate(running, SampleDuration.of(input.recordings(), types), extent);
        if (silence != null) {
            follower.silent(silence.from(), Math.max(silence.to(), extent.last()), silence.as());
        }
        states.finish();
        if (reports != null && incidents != null) {
            own.incidents(reports, incidents.incidents());
        }
        RowAppender losses = rows.get(DerivedTable.LOSS);
        if (losses != null) {
            own.unnoticed(losses, new LossAccount(noticed, input.losses()).unnoticed());
        }
        threadRows();
        stackRows();
    }

    private void add(
            List<Operator> operators,
            DerivedTable table,
            java.util.function.Function<RowAppender, Operator> make) {
        RowAppender row = rows.get(table);
        if (row != null) {
            operators.add(make.apply(row));
        }
    }

    private Operator syscalls(RowAppender out, TimeWindow window) {
        // Numbers of calls are odd, those of named spans even: each counts for itself.
        long[] ids = {0};
        return new SyscallDurations(
                threads,
                window,
                (thread, cpu, number, from, to, returned) -> {
                    long id = 2 * ids[0]++ + 1;
                    if (threads.isRecorder(thread)) {
                        return;
                    }
                    boolean open = to == ThreadTable.NEVER;
                    out.begin()
                            .add(target.id(id))
                            .add(from + target.shift())
                            .add(open ? -1 : to - from)
                            .add(target.utid(thread))
                            .orNull(cpu)
                            .add("syscall")
                            .add(input.callName().apply(number))
                            .add(0)
                            .none();
                    (open ? out.none() : out.add(returned)).add(target.trace());
                });
    }

    private void named(RowAppender out, NamedSlice span) {
        boolean open = span.to() == ThreadTable.NEVER;
        out.begin()
                .add(target.id(2 * span.id()))
                .add(span.from() + target.shift())
                .add(open ? -1 : span.to() - span.from());
        (span.thread() < 0 ? out.none() : out.add(target.utid(span.thread())))
                .orNull(span.cpu())
                .add(span.category())
                .add(span.name())
                .add(span.depth());
        (span.parent() < 0 ? out.none() : out.add(target.id(2 * span.parent())))
                .none()
                .add(target.trace());
    }

    private void threadRows() {
        int[] process = processes();
        RowAppender thread = rows.get(DerivedTable.THREAD);
        RowAppender processes = rows.get(DerivedTable.PROCESS);
        if (thread != null) {
            thread.begin()
                    .add(target.utid(-1))
                    .add(0)
                    .add("swapper")
                    .none()
                    .none()
                    .none()
                    .add(0)
                    .add(1)
                    .add(target.trace());
        }
        for (int i = 0; i < process.length; i++) {
            if (thread != null) {
                thread.begin().add(target.utid(i)).add(threads.tid(i)).add(name(i));
                life(thread, i)
                        .add(target.utid(process[i]))
                        .add(process[i] == i ? 1 : 0)
                        .add(threads.isKernel(i) ? 1 : 0)
                        .add(target.trace());
            }
            if (processes != null && process[i] == i) {
                processes.begin().add(target.utid(i)).add(threads.pid(i));
                String name = threads.processName(threads.pid(i));
                processes.add(name == null ? name(i) : name);
                life(processes, i).add(target.trace());
            }
        }
    }

    /** For each thread the main thread of its process; the first known one when that is missing. */
    private int[] processes() {
        int[] process = new int[threads.size()];
        Map<Integer, Integer> leaders = new HashMap<>();
        for (int thread = process.length - 1; thread >= 0; thread--) {
            leaders.merge(threads.pid(thread), thread, this::leader);
        }
        for (int thread = 0; thread < process.length; thread++) {
            int pid = threads.pid(thread);
            if (threads.tid(thread) == pid) {
                leaders.put(pid, thread);
            }
            process[thread] = leaders.getOrDefault(pid, thread);
        }
        return process;
    }

    private int leader(int one, int other) {
        return threads.tid(other) == threads.pid(other) || threads.tid(one) != threads.pid(one)
                ? other
                : one;
    }

    private @Nullable String name(int thread) {
        String name = threads.name(thread);
        return name.equals("?") ? null : name;
    }

    private RowAppender life(RowAppender out, int thread) {
        long born = threads.born(thread);
        long died = threads.died(thread);
        RowAppender begun = born == Long.MIN_VALUE ? out.none() : out.add(born + target.shift());
        return died == ThreadTable.NEVER ? begun.none() : begun.add(died + target.shift());
    }

    private void stackRows() {
        RowAppender chains = rows.get(DerivedTable.STACK);
        RowAppender frames = rows.get(DerivedTable.FRAME);
        if (chains == null && frames == null) {
            return;
        }
        symbols.learn(stacks.locations());
        Map<Frame, Integer> numbers = new HashMap<>();
        int[] depths = new int[stacks.size()];
        for (int node = 0; node < depths.length; node++) {
            int parent = stacks.parent(node);
            List<Frame> calls = symbols.frames(stacks.location(node));
            int outermost = parent < 0 ? 0 : depths[parent] + 1;
            depths[node] = outermost + calls.size() - 1;
            // The innermost call has the number of the node, by which samples name the chain.
            int id = target.callsite(node);
            for (int i = 0; i < calls.size(); i++) {
                int frame = number(calls.get(i), numbers, frames);
                boolean last = i == calls.size() - 1;
                int caller = last ? target.callsite(parent) : target.caller(callers++);
                if (chains != null) {
                    chains.begin().add(id);
                    (caller == -1 ? chains.none() : chains.add(caller))
                            .add(target.frame(frame))
                            .add(depths[node] - i)
                            .add(target.trace());
                }
                id = caller;
            }
        }
    }

    private int number(Frame frame, Map<Frame, Integer> numbers, @Nullable RowAppender frames) {
        Integer known = numbers.get(frame);
        if (known != null) {
            return known;
        }
        int number = numbers.size();
        numbers.put(frame, number);
        if (frames != null) {
            frames.begin()
                    .add(target.frame(number))
                    .add(frame.name())
                    .add(frame.module())
                    .add(frame.kind().name().toLowerCase(java.util.Locale.ROOT))
                    .add(frame.inlined() ? 1 : 0)
                    .add(target.trace());
        }
        return number;
    }
}
