package sonde.recording.perfdata;

import sonde.event.Batch;

/**
 * Makes the user part of call chains from the registers and the piece of stack that samples carry
 * (PERF_SAMPLE_REGS_USER, PERF_SAMPLE_STACK_USER). It sees all rows of a lane in their order.
 */
public interface CopiedStackUnwinder {
    /** A row that is no sample: a mapping, a fork, the end of a process. */
    void record(Batch batch, int row);

    /**
     * The frames of a sample's user stack.
     *
     * @param chain gets program counter, then return addresses, callee first
     * @return how many; 0 leaves the chain as it was recorded
     */
    int unwind(UserState state, long[] chain);

    /** Why the last chain has no more frames, as {@link Batch#chainEnd} gives it on. */
    int end();
}
