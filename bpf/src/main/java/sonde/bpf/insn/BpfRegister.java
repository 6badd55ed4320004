package sonde.bpf.insn;

/**
 * The registers of RFC 9669 section 2.2. R0 holds results; R1 to R5 are arguments and lost in every
 * call; R6 to R9 survive calls; R10 is the frame pointer, read only, with 512 bytes below it.
 */
public enum BpfRegister implements InstructionOperand {
    R0,
    R1,
    R2,
    R3,
    R4,
    R5,
    R6,
    R7,
    R8,
    R9,
    R10;

    private static final BpfRegister[] ALL = values();

    /** The register of that number, 0 to 10. */
    public static BpfRegister of(int number) {
        return ALL[number];
    }

    /** How many there are. */
    static int count() {
        return ALL.length;
    }
}
