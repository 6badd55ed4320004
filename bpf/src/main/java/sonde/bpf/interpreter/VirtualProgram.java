package sonde.bpf.interpreter;

/** A program on a {@link BpfMachine}, ready to run any number of times. */
public final class VirtualProgram {
    private final BpfMachine machine;
    private final Executable executable;

    VirtualProgram(BpfMachine machine, Executable executable) {
        this.machine = machine;
        this.executable = executable;
    }

    /** {@link #run(ProgramContext, long)} with {@link BpfMachine#DEFAULT_BUDGET}. */
    public long run(ProgramContext context) throws ProgramFaultException {
        return run(context, BpfMachine.DEFAULT_BUDGET);
    }

    /**
     * Runs it from begin to exit.
     *
     * @param budget instructions that it may take
     * @return R0
     * @throws ProgramFaultException when it does what no program may
     */
    public long run(ProgramContext context, long budget) throws ProgramFaultException {
        return machine.run(executable, context, budget);
    }

    Executable executable() {
        return executable;
    }
}
