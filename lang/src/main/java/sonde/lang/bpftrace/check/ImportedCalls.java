package sonde.lang.bpftrace.check;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.UnaryOperator;
import sonde.lang.declare.Signature.Parameter;
import sonde.lang.type.Type;
import sonde.lang.type.Type.Int;

/** Calls of functions in C: numbers are converted as in C, pointers point to what is expected. */
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
                wanted instanceof Type.Pointer pointer
                        ? isNull(argument) || isPointer(argument, type, pointer)
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
                            hint(argument, type, wanted));
        }
    }

    private static boolean isPointer(Expression argument, Type type, Type.Pointer wanted) {
        return type instanceof Type.Pointer given
                && Pointed.fits(given.to(), wanted.to(), variable(argument) != null);
    }

    private static boolean isNull(Expression argument) {
        return argument instanceof Expression.IntegerLiteral n && n.value() == 0;
    }

    private static String hint(Expression argument, Type type, Type wanted) {
        if (!(wanted instanceof Type.Pointer to)) {
            return type instanceof Type.Pointer ? "cast it: (uint64)" : "";
        }
        Expression.Variable variable = variable(argument);
        String declared = Pointed.declaration(to.to());
        if (variable != null && !declared.isEmpty()) {
            return "declare it as what is looked at: let " + variable.name() + ": " + declared;
        }
        return type instanceof Int
                ? "cast it: (" + wanted + ")"
                : type instanceof Type.Pointer
                        ? "if that is what lies there, cast it: (" + wanted + ")"
                        : "put it into a variable and give its address: &$x";
    }

    /** The variable whose address is given; null for another argument. */
    private static Expression.@Nullable Variable variable(Expression argument) {
        return argument instanceof Expression.Unary unary
                        && unary.operator() == UnaryOperator.ADDRESS
                        && unary.operand() instanceof Expression.Variable variable
                ? variable
                : null;
    }
}
