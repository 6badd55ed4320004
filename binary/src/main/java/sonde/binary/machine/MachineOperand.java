package sonde.binary.machine;

/** An operand of an instruction. */
public sealed interface MachineOperand {
    /** What an instruction does with the memory of an operand. */
    enum MachineAccess {
        /** The address only: {@code lea}, prefetches, {@code nop}. */
        ADDRESS,
        READ,
        WRITE,
        READ_WRITE
    }

    /**
     * @param bits 0 where the register has no width of its own, as segments
     */
    record MachineRegister(String name, int bits) implements MachineOperand {}

    /**
     * Memory at {@code base + index * scale + displacement}.
     *
     * @param segment empty without one
     * @param base empty without one; {@code rip} counts from the next instruction
     * @param index empty without one
     * @param hasDisplacement false when the encoding has none
     * @param bytes width of the access; 0 when the instruction does not fix it
     * @param decoration the broadcast of AVX-512; the whole operand for arm64
     */
    record MachineMemory(
            String segment,
            String base,
            String index,
            int scale,
            long displacement,
            boolean hasDisplacement,
            int bytes,
            MachineAccess access,
            String decoration)
            implements MachineOperand {}

    /**
     * @param bits width with which the value is used
     */
    record MachineImmediate(long value, int bits) implements MachineOperand {
        /** The value without the sign bits above its width. */
        public long unsigned() {
            return bits >= 64 ? value : value & (1L << bits) - 1;
        }
    }

    /** Where a branch goes, or the address that a register receives. */
    record MachineTarget(long address) implements MachineOperand {}

    /** Part of an instruction that is neither register, memory nor number: a rounding mode. */
    record MachineModifier(String text) implements MachineOperand {}
}
