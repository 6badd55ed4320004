package sonde.bpf.insn;

import java.io.IOException;

/** Text that is not a program: where, what, and what would be right. */
public final class AssemblyException extends IOException {
    private static final long serialVersionUID = 1L;

    private final int line;
    private final int column;
    private final String problem;
    private final String hint;

    AssemblyException(int line, int column, String problem, String hint) {
        super(
                "line %d, column %d: %s%s"
                        .formatted(line, column, problem, hint.isEmpty() ? "" : "; " + hint));
        this.line = line;
        this.column = column;
        this.problem = problem;
        this.hint = hint;
    }

    /** From 1. */
    public int line() {
        return line;
    }

    /** From 1, in UTF-16 units. */
    public int column() {
        return column;
    }

    /** What is wrong. */
    public String problem() {
        return problem;
    }

    /** What would be right; empty when there is nothing to say. */
    public String hint() {
        return hint;
    }
}
