package sonde.symbol.unwind;

import sonde.binary.unwind.UnwindMemory;
import sonde.recording.perfdata.UserState;

/** The copy of a stack that a sample carries, as memory. */
public final class StackPiece implements UnwindMemory {
    private final UserState state;
    private final long start;
    private final int sizeBytes;

    /**
     * @param start the sample's stack pointer: where the copy begins
     */
    public StackPiece(UserState state, long start) {
        this.state = state;
        this.start = start;
        this.sizeBytes = state.stackBytes();
    }

    @Override
    public boolean has(long address, int bytes) {
        long offset = address - start;
        return offset >= 0 && offset <= sizeBytes - bytes;
    }

    @Override
    public long read(long address, int bytes) {
        return state.stack((int) (address - start), bytes);
    }
}
