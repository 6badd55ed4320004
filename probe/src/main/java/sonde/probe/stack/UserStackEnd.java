package sonde.probe.stack;

/** Why the unwinder in the kernel stopped; the ordinal is in its records. */
public enum UserStackEnd {
    /** At the outermost function, or where a thread began: the stack is whole. */
    OUTERMOST,
    /** There were more frames than fit. */
    LIMIT,
    /** The return address is in no code. */
    NO_CODE,
    /** In a file whose table is not made yet: a copy of the stack from there on was written. */
    NO_TABLE,
    /** Code without a row, and rbp is no frame pointer. */
    NO_ROW,
    /** Stack memory could not be read: swapped out, or no stack. */
    UNREADABLE,
    /** The rule asks for a register that is not known, or leads back. */
    BAD_RULE
}
