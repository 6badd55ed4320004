package sonde.lang.bpftrace.check;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.FunctionCall;
import sonde.lang.bpftrace.syntax.Expression.ScratchVariable;
import sonde.lang.bpftrace.syntax.Expression.UnaryOperation;
import sonde.lang.bpftrace.syntax.UnaryOperator;
import sonde.lang.declare.FunctionSignature.SignatureParameter;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.VoidType;

/** Calls of functions in C: numbers are converted as in C, pointers point to what is expected. */
final class ImportedCalls {
    private final ClauseTyper typer;

    ImportedCalls(ClauseTyper typer) {
        this.typer = typer;
    }

    private GlobalTypes globals() {
        return typer.globals();
    }

    @Nullable ValueType of(FunctionCall e, ImportedFunction function) {
        List<SignatureParameter> parameters = function.parameters();
        List<Expression> arguments = e.arguments();
        int count = parameters.size();
        String fault = new CallArity(count, count, false).fault(e.function(), arguments.size());
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
        ValueType result = function.result();
        return result instanceof VoidType || isNumber(result) || result instanceof PointerType
                ? result
                : globals().error(e.span(), e.function() + "() gives no number: " + result);
    }

    private static boolean isNumber(ValueType type) {
        return type instanceof IntType i && i.sizeBytes() <= 8
                || type instanceof BoolType
                || type instanceof EnumType;
    }

    private void argument(FunctionCall e, Expression argument, SignatureParameter parameter) {
        ValueType type = typer.type(argument);
        ValueType wanted = parameter.type();
        if (type == null) {
            return;
        }
        if (!isNumber(wanted) && !(wanted instanceof PointerType)) {
            globals()
                    .error(
                            argument.span(),
                            e.function()
                                    + "() takes what a script cannot give: "
                                    + parameter.spelling().strip());
            return;
        }
        boolean fits =
                wanted instanceof PointerType pointer
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

    private static boolean isPointer(Expression argument, ValueType type, PointerType wanted) {
        return type instanceof PointerType given
                && PointerTargets.fits(given.to(), wanted.to(), variable(argument) != null);
    }

    private static boolean isNull(Expression argument) {
        return argument instanceof Expression.IntegerLiteral n && n.value() == 0;
    }

    private static String hint(Expression argument, ValueType type, ValueType wanted) {
        if (!(wanted instanceof PointerType to)) {
            return type instanceof PointerType ? "cast it: (uint64)" : "";
        }
        ScratchVariable variable = variable(argument);
        String declared = PointerTargets.declaration(to.to());
        if (variable != null && !declared.isEmpty()) {
            return "declare it as what is looked at: let " + variable.name() + ": " + declared;
        }
        return type instanceof IntType
                ? "cast it: (" + wanted + ")"
                : type instanceof PointerType
                        ? "if that is the type of the value, cast it: (" + wanted + ")"
                        : "put it into a variable and give its address: &$x";
    }

    /** The variable whose address is given; null for another argument. */
    private static Expression.@Nullable ScratchVariable variable(Expression argument) {
        return argument instanceof UnaryOperation unary
                        && unary.operator() == UnaryOperator.ADDRESS
                        && unary.operand() instanceof ScratchVariable variable
                ? variable
                : null;
    }
}
