package sonde.analysis.stack;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sonde.analysis.CountedThreads;
import sonde.analysis.Engine;
import sonde.analysis.Script;
import sonde.analysis.ThreadTable;
import sonde.analysis.TimeWindow;
import sonde.binary.Input;
import sonde.event.Batch;
import sonde.event.Recording;
import sonde.event.result.Frame;
import sonde.recording.perfdata.CopiedStackSamples;
import sonde.recording.perfdata.CopiedStackUnwinder;
import sonde.recording.perfdata.PerfDataReader;
import sonde.recording.perfdata.UserState;
import sonde.symbol.unwind.UnwindEnd;
import sonde.testkit.PerfDataBytes;

final class StackAggregateTest {
    private static final String CLOCK = "cpu-clock";
    private final ThreadTable threads = new ThreadTable(CountedThreads.everything());
    private final StackTable stacks = new StackTable(FrameSymbols.none());

    private record Row(int thread, List<Long> chain, long weight, long count) {}

    private List<Row> rows(StackAggregate sums) {
        List<Row> rows = new ArrayList<>();
        sums.forEach((thread, node, weight, count) -> {
            List<Long> chain = new ArrayList<>();
            for (int at = node; at >= 0; at = stacks.parent(at)) {
                chain.add(stacks.location(at));
            }
            rows.add(new Row(thread, chain, weight, count));
        });
        return rows;
    }

    /** Of many samples some are kept; by thread and chain they weigh what all weigh. */
    @Test
    void keptSamplesStandForAll() throws IOException {
        Script script = new Script();
        for (int i = 0; i < 1000; i++) {
            int tid = i == 3 ? 9 : 7 + i % 2;
            script.sample(CLOCK, 100 + i, 0, 7, tid, 10 + i % 3, Script.USER, 0x500 + i % 5);
        }
        StackAggregate samples =
                new StackAggregate(threads, stacks, TimeWindow.ALL, SampleTypes::isCpu, 64);
        Engine.run(script.recording(), List.of(threads, samples));
        assertThat(samples.stride()).isGreaterThan(1);
        assertThat(samples.kept()).isLessThanOrEqualTo(64);
        Map<List<Integer>, List<Long>> all = new HashMap<>();
        samples.forEach((thread, node, weight, count) ->
                all.put(List.of(thread, node), List.of(weight, count)));
        Map<List<Integer>, List<Long>> page = new HashMap<>();
        List<Long> times = new ArrayList<>();
        samples.forEachSample((time, thread, node, weight, count) -> {
            times.add(time);
            page.merge(
                    List.of(thread, node),
                    List.of(weight, count),
                    (one, two) -> List.of(one.get(0) + two.get(0), one.get(1) + two.get(1)));
        });
        assertThat(page).isEqualTo(all).hasSize(11);
        assertThat(times).isSorted();
    }

    @Test
    void weightsAreAddedByThreadAndChain() throws IOException {
        Script script =
                new Script()
                        .sample(CLOCK, 100, 0, 7, 7, 1000, Script.USER, 0x500, 0x401)
                        .sample(CLOCK, 200, 0, 7, 7, 500, Script.USER, 0x500, 0x401)
                        .sample(CLOCK, 300, 0, 7, 8, 250, Script.USER, 0x500, 0x401)
                        .sample(CLOCK, 400, 0, 7, 7, 10, Script.USER, 0x600)
                        .sample("page-faults", 450, 0, 7, 7, 1, Script.USER, 0x600)
                        .sample(CLOCK, 900, 0, 7, 7, 10, Script.USER, 0x600);
        TimeWindow window = new TimeWindow(0, 800);
        StackAggregate samples = StackAggregate.cpuSamples(threads, stacks, window);
        StackAggregate faults = StackAggregate.pageFaults(threads, stacks, window);
        Engine.run(script.recording(), List.of(threads, samples, faults));
        int seven = threads.find(7);
        int eight = threads.find(8);
        // A return address stands for the call before it: 0x401 becomes 0x400.
        assertThat(rows(samples))
                .containsExactly(
                        new Row(seven, List.of(0x500L, 0x400L), 1500, 2),
                        new Row(seven, List.of(0x600L), 10, 1),
                        new Row(eight, List.of(0x500L, 0x400L), 250, 1));
        assertThat(samples.total()).isEqualTo(1760);
        assertThat(samples.count()).isEqualTo(4);
        assertThat(samples.kept()).isEqualTo(4);
        assertThat(samples.stride()).isEqualTo(1);
        assertThat(samples.time(2)).isEqualTo(300);
        assertThat(samples.thread(2)).isEqualTo(eight);
        assertThat(samples.weight(2)).isEqualTo(250);
        assertThat(rows(faults)).containsExactly(new Row(seven, List.of(0x600L), 1, 1));
    }

    /** What a note says of broken stacks is about the threads that are shown. */
    @Test
    void endsAreCountedByThread() throws IOException {
        PerfDataBytes file = new PerfDataBytes(ByteOrder.LITTLE_ENDIAN);
        // IP, TID, TIME, REGS_USER, STACK_USER
        file.event(file.attr(1, 0, 1 | 2 | 4 | 1 << 12 | 1 << 13, 0, 0), 1);
        for (int pid : new int[] {7, 8, 8}) {
            PerfDataBytes.Fields body = file.fields().u64(0x500).u32(pid).u32(pid).u64(100);
            body.u64(2, 1, 2, 3); // 64-bit, three registers
            file.record(9, 2, body.u64(8, 0x401, 8));
        }
        ChainEnds ends = new ChainEnds(threads, TimeWindow.ALL);
        try (Recording recording = PerfDataReader.open(Input.of("perf.data", file.file()))) {
            CopiedStackSamples stacks =
                    recording.capability(CopiedStackSamples.class).orElseThrow();
            stacks.userStacks(EndsByProcess::new);
            Engine.run(recording, List.of(threads, ends));
        }
        assertThat(ends.counts(_ -> true))
                .isEqualTo(Map.of(UnwindEnd.COMPLETE, 1L, UnwindEnd.TRUNCATED, 2L));
        assertThat(ends.counts(thread -> threads.tid(thread) == 7))
                .isEqualTo(Map.of(UnwindEnd.COMPLETE, 1L));
    }

    /** Stacks of process 7 are whole, others end with their copy. */
    private static final class EndsByProcess implements CopiedStackUnwinder {
        private UnwindEnd end = UnwindEnd.COMPLETE;

        @Override
        public void record(Batch batch, int row) {
            assertThat(row).isNotNegative();
        }

        @Override
        public int unwind(UserState state, long[] chain) {
            end = state.pid() == 7 ? UnwindEnd.COMPLETE : UnwindEnd.TRUNCATED;
            chain[0] = 0x500;
            return 1;
        }

        @Override
        public int end() {
            return end.ordinal();
        }
    }

    @Test
    void callersThatAreNoCodeEndTheStack() throws IOException {
        FrameSymbols mapped =
                new FrameSymbols() {
                    @Override
                    public long location(int pid, long address) {
                        return address;
                    }

                    @Override
                    public boolean isCode(int pid, long address) {
                        return address < 0x10_000;
                    }

                    @Override
                    public Frame frame(long location) {
                        String user = location < 0x8_000 ? "f" + location : "[m+" + location + "]";
                        String name = location < 0 ? "__x64_sys_read" : user;
                        Frame.Kind kind = location < 0 ? Frame.Kind.KERNEL : Frame.Kind.USER;
                        return new Frame(name, "m", kind);
                    }

                    @Override
                    public boolean isRoot(Frame frame) {
                        return frame.name().equals("f" + 0x400);
                    }
                };
        StackTable table = new StackTable(mapped);
        long[] chain = {Script.KERNEL, -4096, Script.USER, 0x500, 0x6f2f636f642f6571L, 0x401};
        Script script =
                new Script()
                        .sample(CLOCK, 100, 0, 7, 7, 1, chain)
                        .sample(CLOCK, 200, 0, 7, 7, 1, Script.USER, 0x20_000, 0x401)
                        .sample(CLOCK, 300, 0, 7, 7, 1, Script.USER, 0x500, 0x401, 0x9001)
                        .sample(CLOCK, 400, 0, 7, 7, 1, Script.USER, 0x600, 0x9001);
        StackAggregate samples = StackAggregate.cpuSamples(threads, table, TimeWindow.ALL);
        Engine.run(script.recording(), List.of(threads, samples));
        CallTreeBuilder trees = new CallTreeBuilder(table, mapped);
        int cut = samples.node(0);
        assertThat(trees.chain(cut).stream().map(Frame::name))
                .containsExactly("[stack cut]", "f" + 0x500, "__x64_sys_read");
        assertThat(trees.completeness(cut)).isEqualTo(CallTreeBuilder.Completeness.CUT);
        assertThat(trees.callOf(cut)).isEqualTo("read");
        // Where it runs is shown, known or not: code that nobody told of.
        assertThat(trees.chain(samples.node(1)).stream().map(Frame::name))
                .containsExactly("f" + 0x400, "[m+" + 0x20_000 + "]");
        // A stripped program's _start has no name, and calls __libc_start_main.
        assertThat(trees.completeness(samples.node(2)))
                .isEqualTo(CallTreeBuilder.Completeness.COMPLETE);
        assertThat(trees.completeness(samples.node(3))).isEqualTo(CallTreeBuilder.Completeness.CUT);
    }

    @Test
    void aStackBeginsWhereTheSwitchWasNotInItsTracepoint() throws IOException {
        List<String> names =
                List.of("do_nanosleep", "schedule", "__schedule", "__traceiter_sched_switch");
        FrameSymbols kernel =
                new FrameSymbols() {
                    @Override
                    public long location(int pid, long address) {
                        return address;
                    }

                    @Override
                    public boolean isCode(int pid, long address) {
                        return true;
                    }

                    @Override
                    public Frame frame(long location) {
                        String name = names.get((int) ((-location - 10_000) / 1000));
                        return new Frame(name, "[kernel]", Frame.Kind.KERNEL);
                    }

                    @Override
                    public boolean isRoot(Frame frame) {
                        return false;
                    }
                };
        StackTable table = new StackTable(kernel);
        long[] chain = {Script.KERNEL, -13_000, -11_999, -10_999, -9_999};
        Script script = new Script().sample(CLOCK, 100, 0, 7, 7, 1, chain);
        StackAggregate samples = StackAggregate.cpuSamples(threads, table, TimeWindow.ALL);
        Engine.run(script.recording(), List.of(threads, samples));
        CallTreeBuilder trees = new CallTreeBuilder(table, kernel);
        int node = samples.node(0);
        assertThat(trees.frame(node).name()).isEqualTo("__traceiter_sched_switch");
        assertThat(trees.frame(trees.withoutSwitching(node)).name()).isEqualTo("do_nanosleep");
        assertThat(trees.waitsIn(node)).isEqualTo("do_nanosleep");
        assertThat(trees.callOf(node)).isEmpty();
    }
}
