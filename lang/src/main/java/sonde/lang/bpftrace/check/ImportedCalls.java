package sonde.lang.bpftrace.check;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.declare.Signature.Parameter;
import sonde.lang.type.Type;
import sonde.lang.type.Type.Int;

/** Calls of functions in C: numbers are converted as in C, pointers are taken as they are. */
final class ImportedCalls {
    private final Typer typer;

    ImportedCalls(Typer typer) {
        this.typer = typer;
    }

    private Globals globals() {
        return typer.globals();
    }

    @Nullable Type of(Expression.Call e, ImportedFunction function) {
        List<Parameter> parameters = function.parameters();
        List<Expression> arguments = e.arguments();
        int count = parameters.size();
        String fault = new Signature(count, count, false).fault(e.function(), arguments.size());
        if (fault != null) {
            arguments.forEach(typer::type);
            return globals().error(e.span(), fault);
        }
        if (!function.unsafe().isEmpty() && !globals().environment().isUnsafeAllowed()) {
            globals()
                    .error(
                            e.span(),
                            e.function()
                                    + "() calls "
                                    + function.unsafe()
                                    + ", which is unsafe. To use it you need the --unsafe flag");
        }
        for (int i = 0; i < count; i++) {
            argument(e, arguments.get(i), parameters.get(i));
        }
        typer.clause().imported(e, function);
        Type result = function.result();
        return result instanceof Type.Void || isNumber(result) || result instanceof Type.Pointer
                ? result
                : globals().error(e.span(), e.function() + "() gives no number: " + result);
    }

    private static boolean isNumber(Type type) {
        return type instanceof Int i && i.sizeBytes() <= 8
                || type instanceof Type.Bool
                || type instanceof Type.Enum;
    }

    private void argument(Expression.Call e, Expression argument, Parameter parameter) {
        Type type = typer.type(argument);
        Type wanted = parameter.type();
        if (type == null) {
            return;
        }
        if (!isNumber(wanted) && !(wanted instanceof Type.Pointer)) {
            globals()
                    .error(
                            argument.span(),
                            e.function()
                                    + "() takes what a script cannot give: "
                                    + parameter.spelling().strip());
            return;
        }
        boolean fits =
                wanted instanceof Type.Pointer
                        ? type instanceof Type.Pointer || isNull(argument)
                        : OperatorTypes.isNumber(type);
        if (!fits) {
            globals()
                    .error(
                            argument.span(),
                            "%s() expects %s%s, got %s"
                                    .formatted(
                                            e.function(),
                                            parameter.spelling().strip(),
                                            parameter.name().isEmpty()
                                                    ? ""
                                                    : " for " + parameter.name(),
                                            type),
                            hint(type, parameter));
        }
    }

    private static boolean isNull(Expression argument) {
        return argument instanceof Expression.IntegerLiteral n && n.value() == 0;
    }

    private static String hint(Type type, Parameter parameter) {
        if (parameter.type() instanceof Type.Pointer) {
            return type instanceof Int
                    ? "cast it: (" + parameter.type() + ")"
                    : "put it into a variable and give its address: &$x";
        }
        return type instanceof Type.Pointer ? "cast it: (uint64)" : "";
    }
}
