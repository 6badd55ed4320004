package sonde.lang.bpftrace.run;

import java.io.IOException;

/** The kernel did not take a program. */
public final class LoadException extends Exception {
    private static final long serialVersionUID = 1;

    private final transient PreparedProgram program;
    private final IOException why;

    LoadException(PreparedProgram program, IOException why) {
        super(why.getMessage(), why);
        this.program = program;
        this.why = why;
    }

    /** The program. */
    public PreparedProgram program() {
        return program;
    }

    /** What the kernel said. */
    public IOException why() {
        return why;
    }
}
