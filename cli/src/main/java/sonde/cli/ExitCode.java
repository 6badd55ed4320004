package sonde.cli;

/**
 * Exit codes of every command but those that start a program, which return the program's own (128+N
 * for signal N, 127 not found, 126 not executable).
 */
final class ExitCode {
    static final int DONE = 0;

    /** The question was answered, and the answer is no. */
    static final int NEGATIVE = 1;

    /** Wrong arguments. */
    static final int USAGE = 2;

    /** Not possible on this machine or for this user; nothing was started. */
    static final int IMPOSSIBLE = 3;

    /** The input file is damaged or no recording. */
    static final int MALFORMED = 4;

    /** A fault of sonde itself. */
    static final int FAULT = 5;

    private ExitCode() {}
}
