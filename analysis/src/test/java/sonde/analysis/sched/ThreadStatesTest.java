package sonde.analysis.sched;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import sonde.analysis.CountedThreads;
import sonde.analysis.Engine;
import sonde.analysis.Script;
import sonde.analysis.ThreadTable;
import sonde.analysis.TimeWindow;
import sonde.analysis.stack.FrameSymbols;
import sonde.analysis.stack.StackAggregate;
import sonde.analysis.stack.StackTable;
import sonde.analysis.syscall.SyscallDurations;
import sonde.sys.SyscallNames;

final class ThreadStatesTest {
    private static final int S = 1;
    private static final int D = 2;
    private static final int R = 0;
    private static final int Z = 0x20;

    private final StateTotals totals = new StateTotals();
    private final OffCpu offCpu = new OffCpu();
    private final WakeUps wakeUps = new WakeUps();
    private final StackTable stacks = new StackTable(FrameSymbols.none());
    private ThreadTable threads = new ThreadTable(CountedThreads.everything());

    private ThreadStates run(Script script, TimeWindow window) throws IOException {
        ThreadStates states =
                new ThreadStates(threads, stacks, window, List.of(totals, offCpu, wakeUps));
        Engine.run(script.recording(), List.of(threads, states));
        return states;
    }

    private long nanos(int tid, ThreadState state) {
        return totals.nanos(threads.find(tid), state);
    }

    @Test
    void runsSleepsIsWokenWaitsAndRuns() throws IOException {
        Script script =
                new Script()
                        .enter(1000, 0, 10, 0)
                        .switched(1100, 0, 10, S, 0, Script.KERNEL, -4096, Script.USER, 0x400000)
                        .wake(1500, 1, 20, 10)
                        .switched(1540, 0, 0, R, 10)
                        .exit(1600, 0, 10, 0, 5)
                        .switched(1700, 0, 10, Z, 0)
                        .wake(2000, 1, 20, 30);
        run(script, TimeWindow.ALL);
        assertThat(nanos(10, ThreadState.RUNNING)).isEqualTo(100 + 160);
        assertThat(nanos(10, ThreadState.SLEEPING)).isEqualTo(400);
        assertThat(nanos(10, ThreadState.WAITING)).isEqualTo(40);
        assertThat(totals.kernelNanos(threads.find(10))).isEqualTo(100 + 60);
        assertThat(totals.wallNanos(threads.find(10))).isEqualTo(700);

        OffCpu.Entry longest = offCpu.entries().get(1);
        assertThat(offCpu.entries().getFirst().cause().thread()).isEqualTo(threads.find(30));
        assertThat(longest.sum().nanos()).isEqualTo(400);
        assertThat(longest.cause().call()).isZero();
        assertThat(longest.cause().waker()).isEqualTo(threads.find(20));
        assertThat(stacks.location(longest.cause().stack())).isEqualTo(-4096);
        assertThat(stacks.location(stacks.parent(longest.cause().stack()))).isEqualTo(0x400000);

        WakeUps.Edge edge = wakeUps.edges().getFirst();
        assertThat(edge.waker()).isEqualTo(threads.find(20));
        assertThat(edge.woken()).isEqualTo(threads.find(10));
        assertThat(edge.latency().sum()).isEqualTo(40);
    }

    @Test
    void threadsThatLiveAtTheStartAreGivenTheStateTheirFirstRowImplies() throws IOException {
        Script script =
                new Script()
                        .wake(100, 1, 99, 1)
                        .switched(200, 0, 2, D, 3)
                        .switched(300, 1, 99, R, 1)
                        .switched(400, 0, 3, R, 99);
        run(script, TimeWindow.ALL);
        assertThat(nanos(1, ThreadState.SLEEPING)).isZero();
        assertThat(nanos(1, ThreadState.WAITING)).isEqualTo(200);
        assertThat(nanos(2, ThreadState.RUNNING)).isEqualTo(100);
        assertThat(nanos(2, ThreadState.BLOCKED)).isEqualTo(200);
        // Of 3 nothing was seen: it may have been woken before the recording, or not.
        assertThat(nanos(3, ThreadState.UNKNOWN)).isEqualTo(100);
        assertThat(nanos(3, ThreadState.WAITING)).isZero();
        assertThat(nanos(3, ThreadState.RUNNING)).isEqualTo(200);
        assertThat(nanos(99, ThreadState.PREEMPTED)).isEqualTo(100);
    }

    @Test
    void aWaitWithoutEndIsBelievedOfThoseThatWereSeenOnACpu() throws IOException {
        Script script =
                new Script()
                        .wake(100, 1, 99, 1)
                        .switched(150, 0, 2, S, 0)
                        .wake(200, 1, 99, 2)
                        .switched(1000, 1, 99, S, 0);
        run(script, TimeWindow.ALL);
        assertThat(nanos(1, ThreadState.WAITING)).isZero();
        assertThat(nanos(1, ThreadState.UNKNOWN)).isEqualTo(900);
        assertThat(nanos(2, ThreadState.WAITING)).isEqualTo(800);
    }

    @Test
    void aThreadHasTheNameThatItHadLongest() throws IOException {
        int ms = 1_000_000;
        Script script =
                new Script()
                        .exec(1_000, 0, 1, "/bin/sh")
                        .exec(100 * ms, 0, 1, "/bin/rm")
                        .exited(101 * ms, 0, 1)
                        .exec(1_000, 0, 2, "/bin/env")
                        .exec(3 * ms, 0, 2, "/bin/cut")
                        .exec(1_000, 0, 3, "/bin/env")
                        .exec(40 * ms, 0, 3, "/bin/sort")
                        .exited(104 * ms, 0, 99);
        run(script, TimeWindow.ALL);
        assertThat(threads.name(threads.find(1))).isEqualTo("sh");
        assertThat(threads.name(threads.find(2))).isEqualTo("cut");
        assertThat(threads.name(threads.find(3))).isEqualTo("sort");
    }

    @Test
    void whoWakesAnotherRuns() throws IOException {
        Script script =
                new Script()
                        .switched(50, 0, 3, S, 0)
                        .wake(100, 1, 99, 1)
                        .wake(300, 2, 1, 2)
                        .switched(400, 0, 2, S, 0)
                        .switched(500, 1, 99, S, 0);
        run(script, TimeWindow.ALL);
        assertThat(nanos(1, ThreadState.WAITING)).isZero();
        assertThat(nanos(1, ThreadState.UNKNOWN)).isEqualTo(200);
    }

    @Test
    void withoutWakeUpsTheTimeBeforeASwitchInIsUnknownOnlyAtTheStart() throws IOException {
        Script script =
                new Script()
                        .switched(100, 0, 7, R, 8)
                        .switched(200, 0, 8, S, 9)
                        .switched(500, 0, 9, S, 8)
                        .switched(600, 0, 8, S, 9);
        ThreadStates states = run(script, TimeWindow.ALL);
        assertThat(states.sawWakeups()).isFalse();
        assertThat(nanos(8, ThreadState.SLEEPING)).isEqualTo(300);
        assertThat(nanos(9, ThreadState.UNKNOWN)).isEqualTo(100);
        assertThat(nanos(9, ThreadState.WAITING)).isZero();
    }

    @Test
    void preemptionIsNotSleep() throws IOException {
        Script script =
                new Script()
                        .switched(100, 0, 5, R, 6)
                        .switched(150, 0, 6, 0x100, 5)
                        .switched(250, 0, 5, S, 6);
        run(script, TimeWindow.ALL);
        assertThat(nanos(5, ThreadState.PREEMPTED)).isEqualTo(50);
        assertThat(nanos(5, ThreadState.RUNNING)).isEqualTo(100);
        assertThat(nanos(6, ThreadState.PREEMPTED)).isEqualTo(100);
        assertThat(wakeUps.edges()).isEmpty();
    }

    @Test
    void lostSwitchesMakeTheStateUnknownUntilTheNextRow() throws IOException {
        Script script = new Script();
        script.wake(50, 1, 99, 4)
                .switched(100, 0, 0, R, 4)
                .switched(200, 1, 99, S, 0)
                .lost(script.perf, 400, 0, 12)
                .switched(600, 0, 4, S, 0)
                .wake(700, 1, 99, 4);
        run(script, TimeWindow.ALL);
        assertThat(nanos(4, ThreadState.WAITING)).isEqualTo(50);
        // From its switch-in, the last row of CPU 0, to the notice nothing is known.
        assertThat(nanos(4, ThreadState.UNKNOWN)).isEqualTo(300);
        assertThat(nanos(4, ThreadState.RUNNING)).isEqualTo(200);
        assertThat(nanos(4, ThreadState.SLEEPING)).isEqualTo(100);
        assertThat(totals.wallNanos(threads.find(4))).isEqualTo(650);
    }

    /** Behind a gap a thread without switch-in ran at most since the CPU ran something else. */
    @Test
    void behindAGapNobodyRanWhileOthersDid() throws IOException {
        Script script = new Script();
        script.switched(50, 0, 18, S, 1)
                .switched(100, 0, 1, S, 2)
                .lost(script.perf, 200, 0, 5)
                .switched(300, 0, 2, S, 3)
                .switched(400, 0, 3, S, 0)
                .switched(500, 0, 18, S, 0);
        run(script, TimeWindow.ALL);
        assertThat(nanos(3, ThreadState.RUNNING)).isEqualTo(100);
        assertThat(nanos(18, ThreadState.RUNNING)).isEqualTo(100);
        assertThat(nanos(18, ThreadState.UNKNOWN)).isEqualTo(50 + 300);
    }

    @Test
    void aContradictionIsUnknownTime() throws IOException {
        Script script =
                new Script()
                        .switched(100, 0, 0, R, 4)
                        .switched(300, 1, 0, R, 4)
                        .switched(350, 1, 4, S, 0);
        run(script, TimeWindow.ALL);
        assertThat(nanos(4, ThreadState.UNKNOWN)).isEqualTo(200);
        assertThat(nanos(4, ThreadState.RUNNING)).isEqualTo(50);
    }

    @Test
    void eachSwitchCountsOnceWhenTwoSourcesHaveIt() throws IOException {
        Script script = new Script();
        script.wake(90, 1, 9, 8)
                .switched(100, 0, 1, S, 2)
                .switchIn(script.ftrace, 101, 0, 1, S, 2)
                .switched(200, 0, 2, S, 1)
                .switchIn(script.ftrace, 201, 0, 2, S, 1)
                .switched(300, 0, 1, S, 2);
        run(script, TimeWindow.ALL);
        assertThat(totals.runs(threads.find(1))).isEqualTo(2);
        assertThat(nanos(1, ThreadState.SLEEPING)).isEqualTo(100);
    }

    @Test
    void aCommandCountsFromItsExecAndItsChildrenFromBirth() throws IOException {
        threads = new ThreadTable(new CountedThreads(false, Set.of(50), true, -1, Set.of(40)));
        Script script =
                new Script()
                        .wake(100, 0, 40, 50)
                        .switched(110, 0, 40, S, 50)
                        .enter(150, 0, 50, 59)
                        .exec(200, 0, 50, "/bin/true")
                        .fork(250, 0, 50, 51)
                        .wakeNew(260, 0, 50, 51)
                        .switched(300, 0, 50, S, 51)
                        .switched(400, 0, 51, Z, 77)
                        .wake(500, 1, 77, 50);
        run(script, TimeWindow.ALL);
        assertThat(nanos(50, ThreadState.RUNNING)).isEqualTo(100);
        assertThat(nanos(50, ThreadState.SLEEPING)).isEqualTo(200);
        assertThat(totals.wallNanos(threads.find(51))).isEqualTo(150);
        assertThat(nanos(51, ThreadState.WAITING)).isEqualTo(50);
        assertThat(totals.has(threads.find(77))).isFalse();
        // The recorder's time is kept, but it does not count.
        assertThat(nanos(40, ThreadState.RUNNING)).isEqualTo(10);
        assertThat(threads.isRecorder(threads.find(40))).isTrue();
        assertThat(threads.name(threads.find(51))).isEqualTo("t51");
    }

    @Test
    void aReusedTidIsAnotherThread() throws IOException {
        Script script =
                new Script()
                        .fork(100, 0, 1, 60)
                        .perfFork(105, 0, 1, 60, 60)
                        .exited(200, 0, 60)
                        .switched(210, 0, 60, Z, 1)
                        .fork(500, 0, 1, 60)
                        .switched(600, 0, 1, S, 60)
                        .switched(700, 0, 60, Z, 1);
        run(script, TimeWindow.ALL);
        int last = threads.find(60);
        assertThat(threads.born(last)).isEqualTo(500);
        assertThat(totals.wallNanos(last)).isEqualTo(200);
        long lives = 0;
        for (int thread = 0; thread < threads.size(); thread++) {
            lives += threads.tid(thread) == 60 ? 1 : 0;
        }
        assertThat(lives).isEqualTo(2);
    }

    @Test
    void aMadeUpForkAfterLiveRowsIsOfTheThreadThatIsKnown() throws IOException {
        long late = 400_000_000;
        Script script =
                new Script()
                        .switched(50, 0, 1, S, 60)
                        .fork(100, 0, 60, 61)
                        .switched(200, 0, 60, S, 61)
                        .madeUpFork(late, 0, 60, 61, 60)
                        .madeUpFork(late, 0, 1, 60, 60)
                        .madeUpFork(late, 0, 1, 62, 62)
                        .switched(late + 100, 0, 61, S, 62)
                        .exited(late + 150, 0, 62)
                        .madeUpFork(late + 200, 0, 1, 62, 62)
                        .switched(late + 200, 0, 62, Z, 60);
        run(script, TimeWindow.ALL);
        // 1, 60, 61, 62
        assertThat(threads.size()).isEqualTo(4);
        assertThat(nanos(61, ThreadState.RUNNING)).isEqualTo(late - 100);
        assertThat(nanos(62, ThreadState.RUNNING)).isEqualTo(100);
        assertThat(threads.pid(threads.find(61))).isEqualTo(60);
        assertThat(threads.born(threads.find(62))).isEqualTo(Long.MIN_VALUE);
        assertThat(threads.died(threads.find(62))).isEqualTo(late + 200); // its last switch
    }

    @Test
    void switchRecordsOfPerfDoWhereThereIsNoTracepoint() throws IOException {
        int out = 1 << 13;
        int preempted = 1 << 13 | 1 << 14;
        Script script =
                new Script()
                        .switchRecord("switch", 100, 0, 7, 0)
                        .switchRecord("switch", 150, 0, 7, preempted)
                        .switchRecord("switch_cpu_wide", 150, 0, 8, 0)
                        .switchRecord("switch_cpu_wide", 220, 0, 8, out)
                        .switchRecord("switch", 250, 1, 7, 0)
                        .switchRecord("switch", 300, 1, 7, out)
                        .switchRecord("switch", 700, 1, 7, 0)
                        .switchRecord("switch", 1000, 1, 7, out);
        ThreadStates states = run(script, TimeWindow.ALL);
        assertThat(states.sawSwitches()).isTrue();
        assertThat(nanos(7, ThreadState.RUNNING)).isEqualTo(50 + 50 + 300);
        assertThat(nanos(7, ThreadState.PREEMPTED)).isEqualTo(100);
        assertThat(nanos(7, ThreadState.SLEEPING)).isEqualTo(400);
        assertThat(totals.wallNanos(threads.find(7))).isEqualTo(900);
        assertThat(states.migrations(threads.find(7))).isEqualTo(1);
        assertThat(nanos(8, ThreadState.RUNNING)).isEqualTo(70);
        assertThat(nanos(8, ThreadState.SLEEPING)).isEqualTo(780);
    }

    @Test
    void switchRecordsCountForNothingBesideTheTracepoint() throws IOException {
        Script script =
                new Script()
                        .switched(100, 0, 1, S, 2)
                        .switchRecord("switch", 120, 0, 2, 1 << 13)
                        .switchRecord("switch", 150, 0, 1, 0)
                        .switched(200, 0, 2, S, 1)
                        .switched(300, 0, 1, S, 2);
        run(script, TimeWindow.ALL);
        assertThat(nanos(2, ThreadState.RUNNING)).isEqualTo(100);
        assertThat(nanos(1, ThreadState.SLEEPING)).isEqualTo(100);
        assertThat(nanos(1, ThreadState.RUNNING)).isEqualTo(100);
    }

    /** do_exit() fires sched_process_exit, then frees memory and files until it is switched out. */
    @Test
    void aThreadLivesUntilItsLastSwitch() throws IOException {
        Script script =
                new Script()
                        .switched(1000, 0, 0, R, 10)
                        .exited(1500, 0, 10)
                        .switched(1700, 0, 10, Z, 0)
                        .wake(2000, 1, 20, 30);
        run(script, TimeWindow.ALL);
        assertThat(threads.died(threads.find(10))).isEqualTo(1700);
        assertThat(totals.last(threads.find(10))).isEqualTo(1700);
    }

    /** Where no births are recorded the switch to a dead tid tells that another thread has it. */
    @Test
    void aTidThatComesBackIsAnotherThread() throws IOException {
        Script script =
                new Script()
                        .switched(1000, 0, 0, R, 10)
                        .switched(1500, 0, 10, Z, 0)
                        .switched(5000, 0, 0, R, 10)
                        .switched(5300, 0, 10, S, 0)
                        .wake(6000, 1, 20, 30);
        run(script, TimeWindow.ALL);
        int second = threads.find(10);
        assertThat(totals.wallNanos(second)).isEqualTo(1000);
        assertThat(nanos(10, ThreadState.RUNNING)).isEqualTo(300);
        assertThat(nanos(10, ThreadState.SLEEPING)).isEqualTo(700);
        int first = 0;
        while (threads.tid(first) != 10) {
            first++;
        }
        assertThat(first).isNotEqualTo(second);
        assertThat(totals.wallNanos(first)).isEqualTo(500);
    }

    private long everyNanos;

    private boolean estimate(Script script, boolean weightIsNanos) throws IOException {
        ThreadStates states = new ThreadStates(threads, stacks, TimeWindow.ALL, List.of(totals));
        StackAggregate samples = StackAggregate.cpuSamples(threads, stacks, TimeWindow.ALL);
        Engine.Extent extent = Engine.run(script.recording(), List.of(threads, states, samples));
        SampleDuration duration = new SampleDuration(weightIsNanos, everyNanos);
        return states.estimate(samples, duration, extent);
    }

    @Test
    void samplesAloneGiveRunningTimeByTheirWeights() throws IOException {
        Script script =
                new Script()
                        .sample("cpu-clock", 1000, 0, 7, 7, 100)
                        .sample("cpu-clock", 1100, 0, 7, 7, 100)
                        .sample("cpu-clock", 1150, 1, 7, 8, 100)
                        .sample("cpu-clock", 1600, 0, 7, 7, 100)
                        .sample("cpu-clock", 1650, 0, 7, 7, Long.MAX_VALUE)
                        .sample("cpu-clock", 1700, 0, 7, 7, -5);
        assertThat(estimate(script, true)).isTrue();
        assertThat(nanos(7, ThreadState.RUNNING)).isEqualTo(100 + 100 + 100 + 50 + 1);
        assertThat(totals.wallNanos(threads.find(7))).isEqualTo(800);
        assertThat(nanos(7, ThreadState.UNKNOWN)).isEqualTo(400 + 49);
        assertThat(nanos(8, ThreadState.RUNNING)).isEqualTo(100);
    }

    @Test
    void samplesByCountStandForTheirMedianDistance() throws IOException {
        Script script = new Script();
        for (long time : new long[] {1000, 1100, 1190, 1290, 9000}) {
            script.sample("cpu-clock", time, 0, 7, 7, 12_345);
        }
        assertThat(estimate(script, false)).isTrue();
        assertThat(nanos(7, ThreadState.RUNNING)).isEqualTo(100 + 100 + 90 + 100 + 100);
        assertThat(totals.wallNanos(threads.find(7))).isEqualTo(8100);
    }

    @Test
    void nothingIsEstimatedWhereSwitchesTell() throws IOException {
        Script script =
                new Script().sample("cpu-clock", 1000, 0, 7, 7, 100).switched(1100, 0, 7, S, 8);
        assertThat(estimate(script, true)).isFalse();
        assertThat(nanos(7, ThreadState.RUNNING)).isEqualTo(100);
    }

    @Test
    void followedThreadsWithoutRowsHaveOneSpan() throws IOException {
        threads = new ThreadTable(new CountedThreads(false, Set.of(50), false, -1, Set.of(40)));
        Script script =
                new Script()
                        .madeUpFork(0, 0, 1, 50, 50)
                        .madeUpFork(0, 0, 50, 51, 50)
                        .madeUpFork(0, 0, 50, 52, 50)
                        .madeUpFork(0, 0, 1, 77, 77)
                        .switched(1000, 0, 77, S, 51)
                        .madeUpFork(1000, 0, 1, 40, 40)
                        .switched(1100, 0, 51, S, 77)
                        .exited(1500, 0, 52);
        ThreadStates states = run(script, TimeWindow.ALL);
        states.silent(900, 2000, ThreadState.SLEEPING);
        assertThat(nanos(50, ThreadState.SLEEPING)).isEqualTo(1100);
        assertThat(totals.first(threads.find(50))).isEqualTo(900);
        assertThat(nanos(51, ThreadState.RUNNING)).isEqualTo(100);
        assertThat(totals.last(threads.find(51))).isEqualTo(1500);
        assertThat(nanos(52, ThreadState.SLEEPING)).isEqualTo(600);
        assertThat(totals.has(threads.find(77))).isFalse();
        assertThat(totals.has(threads.find(40))).isFalse();
    }

    @Test
    void aWindowCutsSpans() throws IOException {
        Script script =
                new Script()
                        .switched(100, 0, 1, S, 2)
                        .wake(200, 1, 9, 1)
                        .switched(300, 0, 2, S, 1)
                        .switched(400, 0, 1, S, 2);
        run(script, new TimeWindow(150, 350));
        assertThat(nanos(1, ThreadState.SLEEPING)).isEqualTo(50);
        assertThat(nanos(1, ThreadState.WAITING)).isEqualTo(100);
        assertThat(nanos(1, ThreadState.RUNNING)).isEqualTo(50);
        assertThat(totals.wallNanos(threads.find(1))).isEqualTo(200);
    }

    @Test
    void aBirthToldByItsFirstWakeUpAloneIsOne() throws IOException {
        Script script =
                new Script()
                        .switched(100, 0, 2, S, 3)
                        .wakeNew(5000, 0, 3, 40)
                        .switched(5100, 0, 3, R, 40)
                        .switched(5200, 0, 40, Z, 3)
                        // The tid is used again, and nothing told that it had become free.
                        .wakeNew(8000, 0, 3, 40)
                        .switched(8050, 0, 3, R, 40)
                        .switched(9000, 0, 40, S, 3);
        run(script, TimeWindow.ALL);
        assertThat(threads.born(threads.find(40))).isEqualTo(8000);
        assertThat(nanos(40, ThreadState.WAITING)).isEqualTo(50);
        assertThat(nanos(40, ThreadState.RUNNING)).isEqualTo(950);
        long waited = 0;
        for (int thread = 0; thread < threads.size(); thread++) {
            waited += totals.nanos(thread, ThreadState.WAITING);
        }
        assertThat(waited).isEqualTo(150);
    }

    @Test
    void aForkAndItsFirstWakeUpAreOneBirthHoweverLateItComes() throws IOException {
        Script script =
                new Script()
                        .switched(100, 0, 2, S, 3)
                        .fork(1000, 0, 3, 40)
                        .newTask(1001, 0, 3, 40)
                        .wakeNew(900_000_000, 0, 3, 40)
                        .switched(900_000_100, 0, 3, S, 40);
        run(script, TimeWindow.ALL);
        assertThat(threads.born(threads.find(40))).isEqualTo(1000);
    }

    @Test
    void aTaskToldByTaskNewtaskAloneIsBornThen() throws IOException {
        Script script =
                new Script()
                        .switched(100, 0, 2, S, 3)
                        .newTask(4000, 0, 3, 40)
                        .wake(4010, 0, 3, 99)
                        .switched(4100, 0, 3, S, 40);
        run(script, TimeWindow.ALL);
        assertThat(threads.born(threads.find(40))).isEqualTo(4000);
        assertThat(nanos(40, ThreadState.WAITING)).isEqualTo(100);
    }

    @Test
    void eventsOfLttngMeanWhatThoseOfFtraceMean() throws IOException {
        Script script =
                new Script()
                        .lttng("syscall_entry_read", 100, 0, 7, Script.bytes(12))
                        .lttng("sched_switch", 200, 0, 7, lttngSwitch(7, S, 0))
                        .lttng("sched_wakeup", 600, 1, 8, Script.bytes(20).putInt(16, 7))
                        .lttng("sched_switch", 700, 0, 0, lttngSwitch(0, R, 7))
                        .lttng("syscall_exit_read", 750, 0, 7, Script.bytes(8).putLong(0, 5))
                        .lttng("sched_switch", 1000, 0, 7, lttngSwitch(7, 64, 0));
        SyscallDurations syscalls = new SyscallDurations(threads, TimeWindow.ALL);
        ThreadStates states = new ThreadStates(threads, stacks, TimeWindow.ALL, List.of(totals));
        Engine.run(script.recording(), List.of(threads, states, syscalls));
        assertThat(nanos(7, ThreadState.RUNNING)).isEqualTo(100 + 300);
        assertThat(nanos(7, ThreadState.SLEEPING)).isEqualTo(400);
        assertThat(nanos(7, ThreadState.WAITING)).isEqualTo(100);
        assertThat(totals.kernelNanos(threads.find(7))).isEqualTo(100 + 50);
        assertThat(syscalls.totals(thread -> true)).hasSize(1);
        assertThat(syscalls.totals(thread -> true).getFirst().number())
                .isEqualTo(SyscallNames.number("read"));
        assertThat(syscalls.totals(thread -> true).getFirst().latency().sum()).isEqualTo(650);
    }

    private static ByteBuffer lttngSwitch(int previous, long state, int next) {
        return Script.bytes(48).putInt(16, previous).putLong(20, state).putInt(44, next);
    }

    @Test
    void callsRecordedByNameDivideTimeAsRawOnesDo() throws IOException {
        Script script =
                new Script().namedCall("read", 1000, 10, 0, 5, 3, 0).switched(1500, 0, 10, S, 0);
        run(script, TimeWindow.ALL);
        assertThat(totals.kernelNanos(threads.find(10))).isEqualTo(10);
    }

    /** Five samples in 30 s are not 30 s of work where a sample was to be taken each 20 ms. */
    @Test
    void aSampleStandsForNoMoreThanTheRecorderWasToldToTakeThem() throws IOException {
        Script script = new Script();
        for (int i = 1; i <= 5; i++) {
            script.sample("cpu-clock", i * 6_000_000_000L, -1, 7, 7, 1);
        }
        everyNanos = 20_000_000;
        assertThat(estimate(script, false)).isTrue();
        assertThat(nanos(7, ThreadState.RUNNING)).isEqualTo(5 * 20_000_000L);
    }

    @Test
    void threadsOfOneCpuNeverRunLongerThanItCould() throws IOException {
        Script script = new Script();
        for (int i = 0; i < 100; i++) {
            script.sample("cpu-clock", 1_000_000L * (i + 1), 0, 7 + i % 10, 7 + i % 10, 1);
        }
        assertThat(estimate(script, false)).isTrue();
        long running = 0;
        for (int tid = 7; tid < 17; tid++) {
            running += nanos(tid, ThreadState.RUNNING);
        }
        // The first sample stands for what nobody saw before it.
        assertThat(running).isLessThanOrEqualTo(99_000_000L + 10_000_000L);
    }

    /** Without the look it would sleep in nobody knows what; one that never wakes has no row. */
    @Test
    void aWaitFromBeforeTheRecordingIsWhatTheRecorderSawItIn() throws IOException {
        String[] blocked = {"D", "fsync(fd 3)", "/journal"};
        long[] numbers = {10, 0, 74, 500};
        Script script =
                new Script()
                        .looked(1000, false, 10, blocked, numbers, Script.KERNEL, -4096)
                        .wake(1400, 1, 20, 10)
                        .switched(1500, 0, 0, R, 10)
                        .exit(1510, 0, 10, 74, 0)
                        .switched(1600, 0, 10, S, 0);
        run(script, TimeWindow.ALL);
        assertThat(nanos(10, ThreadState.BLOCKED)).isEqualTo(400);
        assertThat(totals.kernelNanos(threads.find(10))).isEqualTo(10);
        OffCpu.OffCpuCause cause = offCpu.entries().getFirst().cause();
        assertThat(cause.call()).isEqualTo(74);
        assertThat(stacks.location(cause.stack())).isEqualTo(-4096);
    }

    @Test
    void aThreadWithoutRowsIsInWhatTheRecorderSawItIn() throws IOException {
        threads = new ThreadTable(new CountedThreads(false, Set.of(10), false, -1, Set.of()));
        String[] sleeps = {"S", "accept(fd 3)", "tcp 0.0.0.0:80"};
        Script script =
                new Script()
                        .looked(1000, false, 10, sleeps, new long[] {10, 0, 43, 500})
                        .looked(1900, true, 10, sleeps, new long[] {10, 0, 43, 500});
        run(script, TimeWindow.ALL).silent(1000, 2000, ThreadState.SLEEPING);
        assertThat(nanos(10, ThreadState.SLEEPING)).isEqualTo(1000);
        assertThat(offCpu.entries().getFirst().cause().call()).isEqualTo(43);
    }
}
