package sonde.bpf.insn;

/**
 * One instruction of RFC 9669. Offsets of jumps count slots of 8 bytes from the following
 * instruction; {@link LoadWide} takes two slots, all others one. What this model does not know
 * stays as {@link Unknown} and encodes to the same bits.
 */
public sealed interface Instruction {
    /** Slots taken. */
    default int slots() {
        return 1;
    }

    /**
     * {@code to op= from}.
     *
     * @param wide 64 bits; else 32 bits, the upper half becomes zero
     */
    record Alu(AluOperation operation, boolean wide, Register to, Operand from)
            implements Instruction {}

    /** {@code to = -to}. */
    record Negate(boolean wide, Register to) implements Instruction {}

    /** What a 64-bit constant stands for; the code is the source register field. */
    enum Meaning {
        /** The number itself. */
        NUMBER,
        /** File descriptor of a map. */
        MAP,
        /** Descriptor of a map in the low half, offset in its first value in the high half. */
        MAP_VALUE,
        /** BTF id of a kernel variable. */
        BTF_ID
    }

    /** {@code to = value}, 64 bits in two slots. */
    record LoadWide(Meaning meaning, Register to, long value) implements Instruction {
        @Override
        public int slots() {
            return 2;
        }
    }

    /** {@code to = *(width *)(base + offset)}. */
    record Load(Width width, Register to, Register base, short offset) implements Instruction {}

    /** {@code *(width *)(base + offset) = from}. */
    record Store(Width width, Register base, short offset, Operand from) implements Instruction {}

    /** {@code lock *(width *)(base + offset) += from}; width is U32 or U64. */
    record AtomicAdd(Width width, Register base, short offset, Register from)
            implements Instruction {}

    /** Jumps when the condition holds. */
    record Branch(Condition condition, boolean wide, Register left, Operand right, short offset)
            implements Instruction {}

    /** Jumps always. */
    record Goto(short offset) implements Instruction {}

    /** Calls a helper function of the kernel: number of enum bpf_func_id. */
    record Call(int helper) implements Instruction {}

    /** Returns R0. */
    record Exit() implements Instruction {}

    /** A word that this model does not name. */
    record Unknown(long word) implements Instruction {}
}
