package sonde.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.analysis.sched.OffCpu;
import sonde.analysis.sched.StateTotals;
import sonde.analysis.sched.ThreadState;
import sonde.analysis.sched.ThreadStates;
import sonde.analysis.sched.WakeUps;
import sonde.analysis.stack.FrameSymbols;
import sonde.analysis.stack.StackTable;
import sonde.analysis.syscall.SyscallDurations;
import sonde.analysis.syscall.SyscallStats;
import sonde.event.Batch;
import sonde.event.Recording;
import sonde.event.Source;

/** However rows are spread over lanes, batches and threads, they come by time and count once. */
final class EnginePropertyTest {
    private static final int CPUS = 3;
    private static final int TIDS = 12;

    /** A machine that schedules at random; every time occurs once. */
    private static Script machine(Random random, boolean losses) {
        Script script = new Script();
        int[] onCpu = new int[CPUS];
        boolean[] running = new boolean[TIDS + 1];
        int[] call = new int[TIDS + 1];
        java.util.Arrays.fill(call, -1);
        long time = 1000;
        for (int i = 0; i < 2000; i++) {
            time += 1 + random.nextInt(1000);
            int cpu = random.nextInt(CPUS);
            int current = onCpu[cpu];
            switch (random.nextInt(losses ? 5 : 4)) {
                case 0 -> {
                    int next = random.nextInt(TIDS + 1);
                    if (next == current || running[next]) {
                        continue;
                    }
                    running[current] = false;
                    running[next] = next != 0;
                    onCpu[cpu] = next;
                    long chain = 0x1000 + random.nextInt(3);
                    script.switched(
                            time, cpu, current, random.nextInt(3), next, Script.USER, chain);
                }
                case 1 -> script.wake(time, cpu, current, 1 + random.nextInt(TIDS));
                case 4 -> script.lost(script.perf, time, cpu, 1);
                default -> {
                    if (current != 0 && call[current] < 0) {
                        call[current] = random.nextInt(300);
                        script.enter(time, cpu, current, call[current]);
                    } else if (current != 0) {
                        script.exit(time, cpu, current, call[current], -random.nextInt(3));
                        call[current] = -1;
                    }
                }
            }
        }
        return script;
    }

    private static final class Order implements Operator {
        final List<Long> times = new ArrayList<>();

        @Override
        public RowOrder need() {
            return RowOrder.TIME_ORDERED;
        }

        @Override
        public int[] select(Source source) {
            return new TypeSelection(source).addAll(1, type -> true).codes();
        }

        @Override
        public void accept(Batch batch, int from, int to) {
            for (int row = from; row < to; row++) {
                times.add(batch.time(row));
            }
        }
    }

    private static final class Count implements Operator.Mergeable<Count> {
        long rows;

        @Override
        public Count fresh() {
            return new Count();
        }

        @Override
        public void merge(Count other) {
            rows += other.rows;
        }

        @Override
        public RowOrder need() {
            return RowOrder.ANY_ORDER;
        }

        @Override
        public int[] select(Source source) {
            return new TypeSelection(source).addAll(1, type -> true).codes();
        }

        @Override
        public void accept(Batch batch, int from, int to) {
            rows += to - from;
        }
    }

    /** Everything the analysis says, as text. */
    private static String answer(Recording recording, int rows, int decoders) throws IOException {
        ThreadTable threads = new ThreadTable(CountedThreads.everything());
        StateTotals totals = new StateTotals();
        OffCpu offCpu = new OffCpu();
        WakeUps wakeUps = new WakeUps();
        StackTable stacks = new StackTable(FrameSymbols.none());
        ThreadStates states =
                new ThreadStates(threads, stacks, TimeWindow.ALL, List.of(totals, offCpu, wakeUps));
        SyscallDurations calls = new SyscallDurations(threads, TimeWindow.ALL);
        Order order = new Order();
        Count count = new Count();
        Engine.Extent extent =
                Engine.run(
                        List.of(recording),
                        List.of(order, threads, states, calls, count),
                        decoders);
        assertThat(order.times).isSorted().hasSize(rows);
        assertThat(count.rows).isEqualTo(rows);
        assertThat(extent.events()).isEqualTo(rows);

        StringBuilder text = new StringBuilder();
        for (int thread = 0; thread < threads.size(); thread++) {
            text.append('\n').append(threads.tid(thread));
            long sum = 0;
            for (ThreadState state : ThreadState.values()) {
                text.append(' ').append(totals.nanos(thread, state));
                sum += totals.nanos(thread, state);
            }
            assertThat(sum)
                    .as("states of %d", threads.tid(thread))
                    .isEqualTo(totals.wallNanos(thread));
            assertThat(totals.kernelNanos(thread))
                    .isBetween(0L, totals.nanos(thread, ThreadState.RUNNING));
            text.append(" kernel ").append(totals.kernelNanos(thread));
            text.append(" moved ").append(states.migrations(thread));
            for (SyscallStats one : calls.of(thread)) {
                text.append(' ')
                        .append(one.number())
                        .append(one.latency().sum())
                        .append(one.errors());
            }
        }
        wakeUps.edges().forEach(e -> text.append(e.waker() + ">" + e.woken() + e.latency().sum()));
        long off = 0;
        for (OffCpu.Entry entry : offCpu.entries()) {
            text.append('\n').append(entry.cause()).append(entry.sum().nanos());
            off += entry.sum().nanos();
        }
        return text.append(off).toString();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void anySplitIntoLanesGivesTheSameAnswer(long seed) throws IOException {
        Random random = new Random(seed);
        Script script = machine(random, seed % 2 == 0);
        int rows = script.rows().size();
        String expected = answer(script.recording(), rows, 0);
        assertThat(answer(script.recording(row -> 0), rows, 0)).isEqualTo(expected);
        for (int i = 0; i < 3; i++) {
            int lanes = 1 + random.nextInt(20);
            long salt = random.nextLong();
            Recording split =
                    script.recording(row ->
                            Math.floorMod(
                                    row.number() * 31 + (int) (salt >> row.number() % 48), lanes));
            assertThat(answer(split, rows, i)).isEqualTo(expected);
        }
    }
}
