package sonde.bpf.verifier;

/** One line of the verifier's log, as print_verifier_state() and its like write it. */
public sealed interface LogEntry {
    /**
     * An instruction was looked at: {@code 5: (85) call bpf_map_lookup_elem#1 ; R0=...}.
     *
     * @param text as the kernel prints it
     * @param state registers and stack slots that it read or wrote; empty when it failed
     */
    record LoggedStep(int slot, String text, String state) implements LogEntry {}

    /** The state before an instruction: {@code 0: R1=ctx() R10=fp0}. */
    record LoggedState(int slot, String state) implements LogEntry {}

    /**
     * A way put off at a branch is taken up: {@code from 3 to 7: R0=...}.
     *
     * @param safe it ends at once: the verifier has seen that state before
     */
    record Resumed(int from, int to, String state, boolean safe) implements LogEntry {}

    /** The verifier begins with another function: {@code Validating sum() func#1...}. */
    record Function(String name) implements LogEntry {}

    /** A line of the source, before the instructions made from it. */
    record LoggedSource(SourceLine line) implements LogEntry {}

    /** Bookkeeping: precision marks, live registers, subprograms, paths known to be safe. */
    record Remark(String text) implements LogEntry {}

    /** Anything else; what it refuses is among these. */
    record Message(String text) implements LogEntry {}
}
