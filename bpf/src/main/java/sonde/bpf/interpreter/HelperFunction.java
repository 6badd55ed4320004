package sonde.bpf.interpreter;

/** A function of the kernel as programs call it: R1 to R5 in, R0 out. */
@FunctionalInterface
public interface HelperFunction {
    /** The result, which becomes R0; errors are negative errno values. */
    long call(HelperCall call) throws ProgramFaultException;
}
