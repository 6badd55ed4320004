package sonde.binary.machine;

/** Where the processor goes after an instruction. */
public enum MachineFlow {
    NEXT,
    CALL,
    JUMP,
    /** A jump under a condition. */
    BRANCH,
    RETURN,
    /** An instruction that is made to fail: {@code ud2}, {@code brk}. */
    TRAP,
    /** The bytes are no instruction. */
    INVALID
}
