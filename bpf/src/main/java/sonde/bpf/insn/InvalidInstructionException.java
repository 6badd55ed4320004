package sonde.bpf.insn;

import java.io.IOException;

/** Bytes that are no instruction. */
public final class InvalidInstructionException extends IOException {
    private static final long serialVersionUID = 1L;

    private final int slot;

    /**
     * What is wrong where.
     *
     * @param slot of 8 bytes, from 0
     */
    public InvalidInstructionException(int slot, String reason) {
        super("instruction %d (byte %d): %s".formatted(slot, slot * 8L, reason));
        this.slot = slot;
    }

    /** The slot of 8 bytes, from 0. */
    public int slot() {
        return slot;
    }
}
