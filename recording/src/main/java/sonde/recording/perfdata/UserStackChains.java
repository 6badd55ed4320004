package sonde.recording.perfdata;

import static sonde.recording.perfdata.PerfAbi.PERF_CONTEXT_KERNEL;
import static sonde.recording.perfdata.PerfAbi.PERF_CONTEXT_USER;

import sonde.event.Batch;
import sonde.recording.perfdata.SampleLayout.SampleOffsets;

/** Puts what {@link CopiedStackUnwinder} makes behind the kernel's part of recorded call chains. */
final class UserStackChains {
    /** As many as are shown of any chain. */
    private static final int MOST_FRAMES = 1024;

    /** The kernel's part: sysctl kernel.perf_event_max_stack, and markers. */
    private static final int MOST_RECORDED = 1 << 13;

    private final CopiedStackUnwinder maker;
    private final UserState state;
    private final long[] frames = new long[MOST_FRAMES];
    private long[] chain = new long[2 * MOST_FRAMES];

    UserStackChains(CopiedStackUnwinder maker, PerfView view) {
        this.maker = maker;
        this.state = new UserState(view);
    }

    void record(Batch batch, int row) {
        maker.record(batch, row);
    }

    /**
     * Completes the chain of a row that has been added.
     *
     * @param registers the mask of those that the sample has
     */
    void complete(Batch batch, int row, PerfView view, SampleOffsets found, long registers) {
        if (view.u64(found.userRegs) == 0) {
            return; // PERF_SAMPLE_REGS_ABI_NONE: a kernel thread
        }
        int count = maker.unwind(state.at(view, found, registers, found.pid), frames);
        if (count == 0) {
            return;
        }
        int recorded = Math.min(found.depth, MOST_RECORDED);
        if (chain.length < recorded + count + 2) {
            chain = new long[recorded + count + 2];
        }
        int size = 0;
        int user = 0;
        for (int i = 0; i < recorded; i++) {
            long entry = view.u64(found.stack + 8L * i);
            if (entry == PERF_CONTEXT_USER) {
                user = recorded - i - 1;
                break;
            }
            chain[size++] = entry;
        }
        if (user > count) {
            return; // frame pointers went further
        }
        if (found.depth == 1 && size == 1) {
            // no chain, only the sampled address: what is the kernel's stays
            size = 0;
            long address = view.u64(found.stack);
            if (address < 0) {
                chain[size++] = PERF_CONTEXT_KERNEL;
                chain[size++] = address;
            }
        }
        chain[size++] = PERF_CONTEXT_USER;
        System.arraycopy(frames, 0, chain, size, count);
        batch.chain(row, chain, size + count, maker.end());
    }
}
