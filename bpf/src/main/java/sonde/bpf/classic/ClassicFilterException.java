package sonde.bpf.classic;

import java.io.IOException;

/** A classic filter that the kernel would not take, or that eBPF cannot say. */
public final class ClassicFilterException extends IOException {
    private static final long serialVersionUID = 1L;

    private final int index;

    ClassicFilterException(int index, String reason) {
        super(index < 0 ? reason : "instruction %d: %s".formatted(index, reason));
        this.index = index;
    }

    /** The instruction, from 0; negative when the program as a whole is meant. */
    public int index() {
        return index;
    }
}
