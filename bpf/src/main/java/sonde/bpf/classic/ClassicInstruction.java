package sonde.bpf.classic;

/**
 * One instruction of a classic filter. Jumps count instructions from the following one and go
 * forward only.
 */
public sealed interface ClassicInstruction {
    /** Where a load takes its value from. */
    sealed interface Source {}

    /** A number in network order at an offset of the packet; beyond it the packet is dropped. */
    record Packet(int bytes, int offset) implements Source {}

    /** The same, X added to the offset. */
    record PacketIndexed(int bytes, int offset) implements Source {}

    /** What the kernel knows of the packet; XOR_X changes A instead. */
    record Fact(Ancillary what) implements Source {}

    /** A cell of memory, 0 to 15. */
    record Cell(int number) implements Source {}

    /** A constant. */
    record Constant(int value) implements Source {}

    /** The length of the packet. */
    record Length() implements Source {}

    /** 4 times the low 4 bits of a byte of the packet: the length of an IP header, for X only. */
    record HeaderLength(int offset) implements Source {}

    /** A or X = source. */
    record Load(boolean toX, Source source) implements ClassicInstruction {}

    /** Cell = A or X. */
    record Store(boolean fromX, int cell) implements ClassicInstruction {}

    /** {@code A op= value}. */
    record Alu(ClassicOperation operation, int value) implements ClassicInstruction {}

    /** {@code A op= X}. */
    record AluX(ClassicOperation operation) implements ClassicInstruction {}

    /** {@code A = -A}. */
    record Negate() implements ClassicInstruction {}

    /** Jumps always. */
    record Jump(int distance) implements ClassicInstruction {}

    /** Compares A with a constant; distances are 0 to 255. */
    record Branch(ClassicCondition condition, int value, int ifTrue, int ifFalse)
            implements ClassicInstruction {}

    /** Compares A with X. */
    record BranchX(ClassicCondition condition, int ifTrue, int ifFalse)
            implements ClassicInstruction {}

    /** Ends with a constant: bytes of the packet to keep. */
    record Return(int value) implements ClassicInstruction {}

    /** Ends with A. */
    record ReturnA() implements ClassicInstruction {}

    /** X = A, or A = X. */
    record Transfer(boolean toX) implements ClassicInstruction {}
}
