package sonde.probe.stack;

/** Why the unwinder in the kernel stopped; the ordinal is in its records. */
public enum UserStackEnd {
    /** At the outermost function, or where a thread began: the stack is whole. */
    OUTERMOST("whole"),
    /** There were more frames than fit. */
    LIMIT("have more than 255 frames"),
    /** The return address is in no code. */
    NO_CODE("lead to no code"),
    /** In a file whose table is not made yet: a copy of the stack from there on was written. */
    NO_TABLE("met a file before its table was made"),
    /** Finished from a copy of the stack, which was too short. */
    SHORT_COPY("go on behind the copy that was made where a table was missing"),
    /** Code without a row, and rbp is no frame pointer. */
    NO_ROW("met code without unwinding rules and frame pointers"),
    /** Stack memory could not be read: swapped out, or no stack. */
    UNREADABLE("could not be read"),
    /** A 32-bit program, whose frames are of another kind. */
    COMPAT("are of 32-bit programs"),
    /** The rule asks for a register that is not known, or leads back. */
    BAD_RULE("have rules that do not fit"),
    /** In execve, between the memory of two programs: there is no stack, and nothing is cut. */
    IN_EXEC("were taken in exec, where there is no stack");

    private final String phrase;

    UserStackEnd(String phrase) {
        this.phrase = phrase;
    }

    /** What stacks that end so do, in words: {@code "could not be read"}. */
    String phrase() {
        return phrase;
    }
}
