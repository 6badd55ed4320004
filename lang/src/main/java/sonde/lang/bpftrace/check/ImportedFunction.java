package sonde.lang.bpftrace.check;

import java.util.List;
import sonde.lang.declare.FunctionSignature.SignatureParameter;
import sonde.lang.type.ValueType;

/**
 * A function in C that a script may call.
 *
 * @param unsafe a helper that it calls, which changes more than the trace; empty for none
 */
public record ImportedFunction(
        List<SignatureParameter> parameters, ValueType result, String unsafe) {
    public ImportedFunction {
        parameters = List.copyOf(parameters);
    }
}
