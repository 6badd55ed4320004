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
import sonde.analysis.LossAccount;
import sonde.analysis.Losses;
import sonde.analysis.Operator;
import sonde.analysis.Threads;
import sonde.analysis.Window;
import sonde.analysis.sched.SampleTime;
import sonde.analysis.sched.ThreadStates;
import sonde.analysis.slice.NamedSlices;
import sonde.analysis.stack.ProcessSymbols;
import sonde.analysis.stack.StackSums;
import sonde.analysis.stack.StackTable;
import sonde.analysis.stack.Symbols;
import sonde.analysis.syscall.Syscalls;
import sonde.event.EventType;
import sonde.event.Recording;
import sonde.event.result.Frame;
import sonde.store.duckdb.Connection;

/**
 * One pass over one recording that fills derived tables. The operators that number threads and call
 * chains run in every pass and in the same order, so that numbers of two passes agree.
 */
final class Derivation {
    private final TraceInput input;
    private final Target target;
    private final Map<Derived, Row> rows = new EnumMap<>(Derived.class);
    private final ProcessSymbols mappings;
    private final Symbols symbols;
    private final StackTable stacks;
    private final Threads threads;
    private int callers;

    private Derivation(TraceInput input, Target target) {
        this.input = input;
        this.target = target;
        mappings = input.symbols().get();
        symbols = names(input.recordings(), mappings);
        stacks = new StackTable(symbols);
        threads = new Threads(input.tree(), input.comms());
    }

    /** A recording that names its frames itself is the only one of its trace. */
    private static Symbols names(List<Recording> recordings, Symbols otherwise) {
        return recordings.stream()
                .map(Recording::frames)
                .filter(Objects::nonNull)
                .findFirst()
                .map(Symbols::named)
                .orElse(otherwise);
    }

    /**
     * What a pass numbered.
     *
     * @param callsites number of nodes of call chains
     * @param callers number of their rows beside the nodes, for callers of inlined calls
     */
    record Outcome(Threads threads, int callsites, int callers) {}

    static Outcome run(TraceInput input, Target target, Set<Derived> tables, Connection connection)
            throws IOException {
        Derivation one = new Derivation(input, target);
        try {
            for (Derived table : tables) {
                one.rows.put(table, new Row(connection, table));
            }
            one.pass();
            return new Outcome(one.threads, one.stacks.size(), one.callers);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        } finally {
            for (Row row : one.rows.values()) {
                row.close();
            }
        }
    }

    private void pass() throws IOException {
        OwnRows own = new OwnRows(target, threads, stacks);
        StateRows states =
                new StateRows(
                        target,
                        threads,
                        input.callName(),
                        rows.get(Derived.THREAD_STATE),
                        rows.get(Derived.SCHED));
        Silence silence = input.silence();
        Window window =
                silence == null ? Window.ALL : Window.ALL.within(silence.from(), silence.to());
        ThreadStates follower = new ThreadStates(threads, stacks, window, List.of(states));
        StackSums running = StackSums.cpuSamples(threads, stacks, window);
        EventCounts counts = new EventCounts();
        List<Operator> operators =
                new ArrayList<>(
                        List.of(
                                threads,
                                mappings,
                                new RowOperator(
                                        type -> true,
                                        (batch, row, type) -> threads.find(batch.tid(row))),
                                follower,
                                own.samples(rows.get(Derived.SAMPLE)),
                                running,
                                counts));
        Row slices = rows.get(Derived.SLICE);
        if (slices != null) {
            operators.add(syscalls(slices));
            operators.add(new NamedSlices(threads, stacks::function, span -> named(slices, span)));
        }
        add(operators, Derived.LOSS, own::losses);
        Losses noticed = new Losses();
        add(operators, Derived.LOSS, _ -> noticed);
        add(operators, Derived.MAPPING, own::mappings);
        add(operators, Derived.COUNTER, own::counters);
        add(operators, Derived.LOG, own::logs);
        add(operators, Derived.PACKET, own::packets);
        int spare = Math.min(Runtime.getRuntime().availableProcessors() - 1, 4);
        Engine.Extent extent = Engine.run(input.recordings(), operators, spare);
        List<EventType> types = counts.counts().stream().map(EventCounts.Count::type).toList();
        follower.estimate(running, SampleTime.of(input.recordings(), types));
        if (silence != null) {
            follower.silent(silence.from(), Math.max(silence.to(), extent.last()), silence.as());
        }
        states.finish();
        Row losses = rows.get(Derived.LOSS);
        if (losses != null) {
            own.unnoticed(losses, new LossAccount(noticed, input.losses()).unnoticed());
        }
        threadRows();
        stackRows();
    }

    private void add(
            List<Operator> operators,
            Derived table,
            java.util.function.Function<Row, Operator> make) {
        Row row = rows.get(table);
        if (row != null) {
            operators.add(make.apply(row));
        }
    }

    private Operator syscalls(Row out) {
        // Numbers of calls are odd, those of named spans even: each counts for itself.
        long[] ids = {0};
        return new Syscalls(
                threads,
                Window.ALL,
                (thread, cpu, number, from, to, returned) -> {
                    long id = 2 * ids[0]++ + 1;
                    if (threads.isRecorder(thread)) {
                        return;
                    }
                    boolean open = to == Threads.NEVER;
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

    private void named(Row out, NamedSlices.Span span) {
        boolean open = span.to() == Threads.NEVER;
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
        Row thread = rows.get(Derived.THREAD);
        Row processes = rows.get(Derived.PROCESS);
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

    private Row life(Row out, int thread) {
        long born = threads.born(thread);
        long died = threads.died(thread);
        Row begun = born == Long.MIN_VALUE ? out.none() : out.add(born + target.shift());
        return died == Threads.NEVER ? begun.none() : begun.add(died + target.shift());
    }

    private void stackRows() {
        Row chains = rows.get(Derived.STACK);
        Row frames = rows.get(Derived.FRAME);
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

    private int number(Frame frame, Map<Frame, Integer> numbers, @Nullable Row frames) {
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
