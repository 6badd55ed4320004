package sonde.bpf.insn;

/**
 * One instruction of RFC 9669, with what Linux added to it until 6.19. Offsets of jumps count slots
 * of 8 bytes from the following instruction; {@link LoadWide} takes two slots, all others one. What
 * this model does not know stays as {@link UnknownInstruction} and encodes to the same bits.
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
    record Alu(AluOperation operation, boolean wide, BpfRegister to, InstructionOperand from)
            implements Instruction {}

    /** {@code to = -to}. */
    record Negate(boolean wide, BpfRegister to) implements Instruction {}

    /**
     * {@code to = (sBITS) from}: the low bits with their sign (v4, Linux 6.6).
     *
     * @param bits 8, 16, and 32 when wide
     */
    record SignExtend(int bits, boolean wide, BpfRegister to, BpfRegister from)
            implements Instruction {}

    /** What a byte swap makes of a number that is in the order of the machine. */
    enum ByteOrderChange {
        TO_LITTLE("le"),
        TO_BIG("be"),
        /** Always swaps (v4, Linux 6.6). */
        SWAP("bswap");

        private final String sign;

        ByteOrderChange(String sign) {
            this.sign = sign;
        }

        String sign() {
            return sign;
        }
    }

    /**
     * {@code to = be16 to}; the bits above become zero.
     *
     * @param bits 16, 32 or 64
     */
    record ByteSwap(ByteOrderChange change, int bits, BpfRegister to) implements Instruction {}

    /** A pointer of one address space as one of another: 1 is the arena's (Linux 6.9). */
    record AddressSpaceCast(BpfRegister to, BpfRegister from, int toSpace, int fromSpace)
            implements Instruction {}

    /** The address of a per-CPU variable on this CPU: only the verifier writes it (Linux 6.10). */
    record PerCpuAddress(BpfRegister to, BpfRegister from) implements Instruction {}

    /** What a 64-bit constant stands for; the code is the source register field. */
    enum ConstantMeaning {
        /** The number itself. */
        NUMBER,
        /** File descriptor of a map; the map's id in programs read back from the kernel. */
        MAP,
        /** Descriptor of a map in the low half, offset in its first value in the high half. */
        MAP_VALUE,
        /** BTF id of a kernel variable in the low half, descriptor of its module in the high. */
        BTF_ID,
        /** A subprogram, for callbacks: slots from the following instruction's, as in calls. */
        FUNCTION,
        /** As {@link #MAP}, an index into the descriptors given with the program (Linux 5.14). */
        MAP_INDEX,
        /** As {@link #MAP_VALUE}, with such an index. */
        MAP_INDEX_VALUE
    }

    /** {@code to = value}, 64 bits in two slots. */
    record LoadWide(ConstantMeaning meaning, BpfRegister to, long value) implements Instruction {
        @Override
        public int slots() {
            return 2;
        }
    }

    /** {@code to = *(width *)(base + offset)}, zero-extended. */
    record Load(Width width, BpfRegister to, BpfRegister base, short offset)
            implements Instruction {}

    /** {@code to = *(signed width *)(base + offset)}, U8 to U32 (v4, Linux 6.6). */
    record LoadSigned(Width width, BpfRegister to, BpfRegister base, short offset)
            implements Instruction {}

    /** R0 = number in network order at an offset of the packet whose context is R6; U8 to U32. */
    record LoadPacket(Width width, int offset) implements Instruction {}

    /** R0 = number in network order at {@code index + offset} of the packet. */
    record LoadPacketIndexed(Width width, BpfRegister index, int offset) implements Instruction {}

    /** {@code *(width *)(base + offset) = from}. */
    record Store(Width width, BpfRegister base, short offset, InstructionOperand from)
            implements Instruction {}

    /** {@code lock *(width *)(base + offset) op= from}; width is U32 or U64. */
    record Atomic(
            AtomicOperation operation,
            Width width,
            BpfRegister base,
            short offset,
            BpfRegister from)
            implements Instruction {}

    /** A load that later accesses are not moved before (Linux 6.15). */
    record LoadAcquire(Width width, BpfRegister to, BpfRegister base, short offset)
            implements Instruction {}

    /** A store that earlier accesses are not moved behind (Linux 6.15). */
    record StoreRelease(Width width, BpfRegister base, short offset, BpfRegister from)
            implements Instruction {}

    /** What decides which instruction is next. */
    sealed interface Flow extends Instruction {}

    /** Jumps when the condition holds. */
    record Branch(
            JumpCondition condition,
            boolean wide,
            BpfRegister left,
            InstructionOperand right,
            short offset)
            implements Flow {}

    /** Jumps always. */
    record Goto(short offset) implements Flow {}

    /** Jumps always, far (v4, Linux 6.6). */
    record GotoLong(int offset) implements Flow {}

    /** Jumps to the slot whose address the register holds (Linux 6.19). */
    record GotoRegister(BpfRegister target) implements Flow {}

    /** Jumps when the program ran for too long: bounds a loop (Linux 6.9). */
    record MayGoto(short offset) implements Flow {}

    /** Calls a helper function of the kernel: number of enum bpf_func_id. */
    record CallHelperFunction(int helper) implements Flow {}

    /** Calls a subprogram, slots from the following instruction (Linux 4.16). */
    record CallLocal(int offset) implements Flow {}

    /**
     * Calls a function of the kernel (Linux 5.13).
     *
     * @param btfId of the function
     * @param module 0 for vmlinux, else an index into the program's fd_array
     */
    record CallKernel(int btfId, short module) implements Flow {}

    /** Returns R0. */
    record Exit() implements Flow {}

    /** A barrier against speculation: only the verifier writes it. */
    record NoSpeculation() implements Instruction {}

    /** A word that this model does not name. */
    record UnknownInstruction(long word) implements Instruction {}
}
