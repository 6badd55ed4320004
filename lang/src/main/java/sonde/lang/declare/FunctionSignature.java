package sonde.lang.declare;

import java.util.List;
import sonde.lang.type.ValueType;

/**
 * What a function takes and gives.
 *
 * @param resultSpelling the result's type as C spells it
 * @param btfId of what a program is attached to: a function, a tracepoint's typedef; 0 for none
 * @param module whose BTF has that id: {@code "vmlinux"} or a module's name; empty for a program's
 *     function
 */
public record FunctionSignature(
        List<SignatureParameter> parameters,
        ValueType result,
        String resultSpelling,
        int btfId,
        String module) {
    public FunctionSignature {
        parameters = List.copyOf(parameters);
    }

    /**
     * A parameter.
     *
     * @param name empty where nothing tells it
     * @param spelling its type as C spells it: {@code "struct file *"}
     */
    public record SignatureParameter(String name, ValueType type, String spelling) {}
}
