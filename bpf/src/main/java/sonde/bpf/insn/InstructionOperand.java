package sonde.bpf.insn;

/** The right side of an operation: a register, or 32 bits sign-extended to the width. */
public sealed interface InstructionOperand permits BpfRegister, InstructionOperand.Immediate {
    /** A constant in the instruction. */
    record Immediate(int value) implements InstructionOperand {}
}
