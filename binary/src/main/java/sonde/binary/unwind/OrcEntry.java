package sonde.binary.unwind;

/**
 * How the kernel's unwinder leaves a frame: struct orc_entry of arch/x86/include/asm/orc_types.h,
 * in one form for all layouts.
 *
 * @param stack the register from which the caller's stack pointer is found
 * @param stackOffset what is added to it
 * @param frame the register from which the place of the caller's rbp is found; {@code UNDEFINED}
 *     when rbp is as it was
 * @param frameOffset what is added to it
 * @param isSignal whether the caller was interrupted, and did not call
 */
public record OrcEntry(
        OrcRegister stack,
        int stackOffset,
        OrcRegister frame,
        int frameOffset,
        OrcType type,
        boolean isSignal) {

    /** ORC_REG_*. */
    public enum OrcRegister {
        UNDEFINED,
        PREV_SP,
        AX,
        DX,
        DI,
        BP,
        SP,
        R10,
        R13,
        BP_INDIRECT,
        SP_INDIRECT,
    }

    /** ORC_TYPE_*. */
    public enum OrcType {
        /** Nothing is known of this place. */
        UNDEFINED,
        /** The outermost frame of a stack. */
        END_OF_STACK,
        /** The return address lies below the caller's stack pointer. */
        CALL,
        /** A whole struct pt_regs lies there. */
        REGS,
        /** What the CPU pushes on an interrupt lies there. */
        REGS_PARTIAL,
    }
}
