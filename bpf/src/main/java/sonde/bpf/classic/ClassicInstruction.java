package sonde.bpf.classic;

/**
 * One instruction of a classic filter. Jumps count instructions from the following one and go
 * forward only.
 */
public sealed interface ClassicInstruction {
    /** Where a load takes its value from. */
    sealed interface ClassicSource {}

    /** A number in network order at an offset of the packet; beyond it the packet is dropped. */
    record PacketBytes(int bytes, int offset) implements ClassicSource {}

    /** The same, X added to the offset. */
    record PacketIndexed(int bytes, int offset) implements ClassicSource {}

    /** What the kernel knows of the packet; XOR_X changes A instead. */
    record AncillarySource(Ancillary what) implements ClassicSource {}

    /** A cell of memory, 0 to 15. */
    record MemoryCell(int number) implements ClassicSource {}

    /** A constant. */
    record ClassicConstant(int value) implements ClassicSource {}

    /** The length of the packet. */
    record PacketLength() implements ClassicSource {}

    /** 4 times the low 4 bits of a byte of the packet: the length of an IP header, for X only. */
    record HeaderLength(int offset) implements ClassicSource {}

    /** A or X = source. */
    record ClassicLoad(boolean toX, ClassicSource source) implements ClassicInstruction {}

    /** Cell = A or X. */
    record ClassicStore(boolean fromX, int cell) implements ClassicInstruction {}

    /** {@code A op= value}. */
    record ClassicAlu(ClassicOperation operation, int value) implements ClassicInstruction {}

    /** {@code A op= X}. */
    record AluX(ClassicOperation operation) implements ClassicInstruction {}

    /** {@code A = -A}. */
    record ClassicNegate() implements ClassicInstruction {}

    /** Jumps always. */
    record ClassicJump(int distance) implements ClassicInstruction {}

    /** Compares A with a constant; distances are 0 to 255. */
    record ClassicBranch(ClassicCondition condition, int value, int ifTrue, int ifFalse)
            implements ClassicInstruction {}

    /** Compares A with X. */
    record BranchX(ClassicCondition condition, int ifTrue, int ifFalse)
            implements ClassicInstruction {}

    /** Ends with a constant: bytes of the packet to keep. */
    record ClassicReturn(int value) implements ClassicInstruction {}

    /** Ends with A. */
    record ReturnA() implements ClassicInstruction {}

    /** X = A, or A = X. */
    record ClassicTransfer(boolean toX) implements ClassicInstruction {}
}
