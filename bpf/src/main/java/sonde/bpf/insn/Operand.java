package sonde.bpf.insn;

/** The right side of an operation: a register, or 32 bits sign-extended to the width. */
public sealed interface Operand permits Register, Operand.Immediate {
    /** A constant in the instruction. */
    record Immediate(int value) implements Operand {}
}
