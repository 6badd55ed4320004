package sonde.analysis.sched;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.analysis.CountedThreads;
import sonde.analysis.Engine;
import sonde.analysis.Script;
import sonde.analysis.ThreadTable;
import sonde.analysis.TimeWindow;
import sonde.analysis.sched.OffSpans.OffCpuSpan;
import sonde.analysis.stack.FrameSymbols;
import sonde.analysis.stack.StackTable;
import sonde.testkit.Property;

/** Whatever rows are missing, a CPU runs one thread at a time. */
final class ThreadStatesPropertyTest {
    private static final int CPUS = 3;
    private static final int RUNS = 300;

    private final long[] running = new long[CPUS];

    private void add(ThreadStates states, int thread, ThreadState state, long from, long to) {
        if (state == ThreadState.RUNNING) {
            running[states.cpu(thread)] += to - from;
        }
    }

    /**
     * @param missing of a hundred rows so many are left out without a notice
     */
    @ParameterizedTest
    @ValueSource(ints = {0, 5, 30, 80})
    void noCpuIsBusierThanTheTimeThereIs(int missing) {
        Property.forAll(
                1,
                RUNS,
                random -> {
                    Arrays.fill(running, 0);
                    Script script = script(random, missing, random.nextBoolean());
                    ThreadTable threads = new ThreadTable(CountedThreads.everything());
                    StackTable stacks = new StackTable(FrameSymbols.none());
                    ThreadStates states =
                            new ThreadStates(threads, stacks, TimeWindow.ALL, List.of(this::add));
                    Engine.Extent extent = Engine.run(script.recording(), List.of(threads, states));
                    assertThat(Arrays.stream(running).max().orElseThrow())
                            .isLessThanOrEqualTo(extent.last() - extent.first());
                });
    }

    /** Of 2,000 recordings with losses: a thread's states are its life, the spans all there is. */
    @Test
    void statesAddUpInEveryView() {
        Property.forAll(
                1,
                2000,
                random -> {
                    int missing = random.nextInt(40);
                    Script script = script(random, missing, random.nextBoolean());
                    for (int i = random.nextInt(4); i > 0; i--) {
                        long time = 1000 + random.nextInt(1200);
                        script.lost(script.ftrace, time, random.nextInt(CPUS), random.nextInt(9));
                    }
                    StateTotals totals = new StateTotals();
                    OffCpu causes = new OffCpu();
                    OffSpans spans = new OffSpans(1 + random.nextInt(40));
                    ThreadTable threads = new ThreadTable(CountedThreads.everything());
                    StackTable stacks = new StackTable(FrameSymbols.none());
                    ThreadStates states =
                            new ThreadStates(
                                    threads,
                                    stacks,
                                    TimeWindow.ALL,
                                    List.of(totals, causes, spans));
                    Engine.Extent extent = Engine.run(script.recording(), List.of(threads, states));
                    check(totals, threads.size(), extent);
                    long off = 0;
                    for (int thread = 0; thread < threads.size(); thread++) {
                        off += totals.wallNanos(thread);
                        off -= totals.nanos(thread, ThreadState.RUNNING);
                        off -= totals.nanos(thread, ThreadState.UNKNOWN);
                    }
                    assertThat(causes.entries().stream().mapToLong(one -> one.sum().nanos()).sum())
                            .isEqualTo(off);
                    assertThat(spans.rows().stream().mapToLong(OffCpuSpan::nanos).sum())
                            .isEqualTo(off);
                });
    }

    private static void check(StateTotals totals, int threads, Engine.Extent extent) {
        long all = extent.last() - extent.first();
        long busy = 0;
        for (int thread = 0; thread < threads; thread++) {
            long sum = 0;
            for (ThreadState state : ThreadState.values()) {
                sum += totals.nanos(thread, state);
            }
            assertThat(sum).isEqualTo(totals.wallNanos(thread)).isBetween(0L, all);
            busy += totals.nanos(thread, ThreadState.RUNNING);
        }
        assertThat(busy).isLessThanOrEqualTo(CPUS * all);
    }

    /** Threads 10 to 17 take turns on the CPUs; some make system calls while they run. */
    private static Script script(RandomGenerator random, int missing, boolean wakeUps) {
        Script script = new Script();
        int[] current = {10, 11, 0};
        int[] cpuOf = new int[18];
        Arrays.fill(cpuOf, -1);
        cpuOf[10] = 0;
        cpuOf[11] = 1;
        long time = 1000;
        for (int i = 0; i < 120; i++) {
            time += 1 + random.nextInt(20);
            int cpu = random.nextInt(CPUS);
            boolean kept = random.nextInt(100) >= missing;
            int other = 10 + random.nextInt(8);
            if (random.nextInt(3) == 0 && current[cpu] != 0) {
                if (kept) {
                    script.enter(time, cpu, current[cpu], 0);
                }
            } else if (cpuOf[other] < 0) {
                int next = random.nextInt(4) == 0 ? 0 : other;
                if (wakeUps && random.nextBoolean() && next != 0) {
                    script.wake(time++, cpu, current[cpu], next);
                }
                if (kept) {
                    script.switched(time, cpu, current[cpu], random.nextInt(3), next);
                }
                cpuOf[current[cpu]] = -1;
                current[cpu] = next;
                if (next != 0) {
                    cpuOf[next] = cpu;
                }
            }
        }
        return script;
    }
}
