package sonde.bpf.interpreter;

import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.BpfRegister;

/** A program did what no program may; the verifier would have refused it. */
public final class ProgramFaultException extends Exception {
    private static final long serialVersionUID = 1L;

    /** What it did. */
    public enum Kind {
        /** An address outside of every region, beyond the end of one, or one only to be read. */
        MEMORY,
        /** More instructions than it was given. */
        BUDGET,
        /** More than 8 calls in one another. */
        DEPTH,
        /** A word that is not an instruction, or none that runs outside of a kernel. */
        INSTRUCTION,
        /** A jump or the end without exit led out of the program. */
        FLOW,
        /** A function that is not known here, or an argument that it cannot take. */
        FUNCTION
    }

    private final Kind kind;
    private final int slot;
    private final @Nullable BpfRegister register;

    ProgramFaultException(
            Kind kind, int slot, @Nullable BpfRegister register, String text, String reason) {
        super(
                "instruction %d: %s: %s%s"
                        .formatted(
                                slot,
                                text,
                                register == null ? "" : "r" + register.ordinal() + " leads to ",
                                reason),
                null,
                false,
                true);
        this.kind = kind;
        this.slot = slot;
        this.register = register;
    }

    /** What the program did. */
    public Kind kind() {
        return kind;
    }

    /** The instruction's slot of 8 bytes, from 0. */
    public int slot() {
        return slot;
    }

    /** The register that held the address; null when none did. */
    public @Nullable BpfRegister register() {
        return register;
    }
}
