package sonde.bpf.interpreter;

/** A program on a {@link Machine}, ready to run any number of times. */
public final class VirtualProgram {
    private final Machine machine;
    private final Executable executable;

    VirtualProgram(Machine machine, Executable executable) {
        this.machine = machine;
        this.executable = executable;
    }

    /** {@link #run(Context, long)} with {@link Machine#DEFAULT_BUDGET}. */
    public long run(Context context) throws ProgramFaultException {
        return run(context, Machine.DEFAULT_BUDGET);
    }

    /**
     * Runs it from begin to exit.
     *
     * @param budget instructions that it may take
     * @return R0
     * @throws ProgramFaultException when it does what no program may
     */
    public long run(Context context, long budget) throws ProgramFaultException {
        return machine.run(executable, context, budget);
    }

    Executable executable() {
        return executable;
    }
}
