package sonde.lang.bpftrace.check;

import java.util.List;
import sonde.lang.declare.Signature.Parameter;
import sonde.lang.type.Type;

/**
 * A function in C that a script may call.
 *
 * @param unsafe a helper that it calls, which changes more than the trace; empty for none
 */
public record ImportedFunction(List<Parameter> parameters, Type result, String unsafe) {
    public ImportedFunction {
        parameters = List.copyOf(parameters);
    }
}
