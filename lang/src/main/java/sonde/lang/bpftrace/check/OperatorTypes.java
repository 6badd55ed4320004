package sonde.lang.bpftrace.check;

import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.BinaryOperator;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.UnaryOperator;
import sonde.lang.type.Composite;
import sonde.lang.type.Tuple;
import sonde.lang.type.Type;
import sonde.lang.type.Type.Int;
import sonde.lang.type.Type.Space;

/** What operators make of their operands. */
final class OperatorTypes {
    private final Typer typer;

    OperatorTypes(Typer typer) {
        this.typer = typer;
    }

    @Nullable Type binary(Expression.Binary e) {
        Type left = typer.type(e.left());
        Type right = typer.type(e.right());
        if (left == null || right == null) {
            return e.operator().isComparison() ? new Type.Bool() : null;
        }
        return of(e, e.operator(), left, right);
    }

    /** What {@code left operator right} is. */
    @Nullable Type of(Expression e, BinaryOperator operator, Type left, Type right) {
        boolean logical =
                operator == BinaryOperator.LOGICAL_AND || operator == BinaryOperator.LOGICAL_OR;
        boolean compares = operator.isComparison() || logical;
        if (left instanceof Type.Pointer || right instanceof Type.Pointer) {
            return pointers(e, operator, left, right, compares, logical);
        }
        if (isNumber(left) && isNumber(right)) {
            if (compares) {
                return new Type.Bool();
            }
            if (left instanceof Type.Bool && right instanceof Type.Bool) {
                return new Type.Bool();
            }
            return numbers(e, operator, left, right);
        }
        if (logical) {
            return refused(e, operator, left, right);
        }
        boolean equality = operator == BinaryOperator.EQUAL || operator == BinaryOperator.NOT_EQUAL;
        if (left instanceof Type.Array a && right instanceof Type.Array b) {
            return arrays(e, operator, a, b, equality);
        }
        if (Promotion.of(left, right) == null && !(left.equals(right))) {
            return typer.globals()
                    .error(
                            e.span(),
                            "Type mismatch for '"
                                    + operator.sign()
                                    + "': comparing "
                                    + left
                                    + " with "
                                    + right);
        }
        return equality ? new Type.Bool() : refused(e, operator, left, right);
    }

    private @Nullable Type arrays(
            Expression e, BinaryOperator operator, Type.Array a, Type.Array b, boolean equality) {
        if (!equality) {
            return typer.globals()
                    .error(
                            e.span(),
                            "The " + operator.sign() + " operator cannot be used on arrays.");
        }
        if (a.count() != b.count()) {
            return typer.globals()
                    .error(e.span(), "Only arrays of same size support comparison operators.");
        }
        if (!(a.element() instanceof Int) || !a.equals(b)) {
            return typer.globals()
                    .error(
                            e.span(),
                            "Only arrays of same sized integer support comparison operators.");
        }
        return new Type.Bool();
    }

    private @Nullable Type refused(Expression e, BinaryOperator o, Type left, Type right) {
        return typer.globals()
                .error(
                        e.span(),
                        "The "
                                + o.sign()
                                + " operator can not be used on expressions of types "
                                + left
                                + ", "
                                + right);
    }

    private @Nullable Type pointers(
            Expression e,
            BinaryOperator operator,
            Type left,
            Type right,
            boolean compares,
            boolean logical) {
        boolean both = left instanceof Type.Pointer && right instanceof Type.Pointer;
        if (both) {
            return compares ? new Type.Bool() : refused(e, operator, left, right);
        }
        Type other = left instanceof Type.Pointer ? right : left;
        Type.Pointer pointer = (Type.Pointer) (left instanceof Type.Pointer ? left : right);
        if (!(other instanceof Int) && !(other instanceof Type.Bool)) {
            return refused(e, operator, left, right);
        }
        if (compares) {
            return new Type.Bool();
        }
        boolean fits =
                operator == BinaryOperator.ADD
                        || operator == BinaryOperator.SUBTRACT && left instanceof Type.Pointer;
        return fits && !logical ? pointer : refused(e, operator, left, right);
    }

    private Type numbers(Expression e, BinaryOperator operator, Type left, Type right) {
        boolean divides = operator == BinaryOperator.DIVIDE || operator == BinaryOperator.MODULO;
        if (divides && isSigned(left, right) != isSigned(right, left)) {
            typer.globals()
                    .warning(
                            e.span(),
                            "signed operands for '"
                                    + operator.sign()
                                    + "' can lead to undefined behavior (cast to unsigned to"
                                    + " silence warning)",
                            "");
        }
        return number(operator, left, right);
    }

    /** What an operator makes of two numbers. */
    static Type number(BinaryOperator operator, Type left, Type right) {
        boolean signed =
                isSigned(left, right)
                        || isSigned(right, left)
                        || operator == BinaryOperator.SUBTRACT;
        return signed ? Int.I64 : Int.U64;
    }

    /** Whether an operand is signed: a literal that could be either is as the other one is. */
    private static boolean isSigned(Type operand, Type other) {
        boolean asOther = isEither(operand) && !isEither(other);
        return Promotion.isSigned(asOther ? other : operand);
    }

    private static boolean isEither(Type type) {
        return type instanceof Int i && i.either();
    }

    static boolean isNumber(Type type) {
        return type instanceof Int
                || type instanceof Type.Bool
                || type instanceof Type.Enum
                || Promotion.isNumber(type);
    }

    @Nullable Type unary(Expression.Unary e) {
        UnaryOperator operator = e.operator();
        if (operator == UnaryOperator.ADDRESS) {
            return address(e);
        }
        if (operator == UnaryOperator.NEGATE
                && e.operand() instanceof Expression.IntegerLiteral n) {
            typer.type(n);
            return Promotion.literal(-n.value(), true);
        }
        Type type = typer.type(e.operand());
        if (operator.assigns()) {
            return step(e, type);
        }
        if (type == null) {
            return null;
        }
        if (operator == UnaryOperator.DEREFERENCE) {
            return dereference(e, type);
        }
        if (operator == UnaryOperator.NOT) {
            return isNumber(type) || type instanceof Type.Pointer
                    ? new Type.Bool()
                    : refused(e, type);
        }
        if (!isNumber(type) || type instanceof Type.Bool) {
            return refused(e, type);
        }
        return Promotion.isSigned(type) ? Int.I64 : Int.U64;
    }

    private @Nullable Type refused(Expression.Unary e, Type type) {
        return typer.globals()
                .error(
                        e.span(),
                        "The "
                                + e.operator().sign()
                                + " operator can not be used on expressions of type '"
                                + type
                                + "'");
    }

    private @Nullable Type address(Expression.Unary e) {
        if (e.operand() instanceof Expression.MapName m) {
            typer.globals().map(m.name());
            return new Type.Pointer(new Type.Void(), Space.OWN);
        }
        Type type = typer.type(e.operand());
        if (e.operand() instanceof Expression.Variable v) {
            VariableSymbol symbol = typer.find(v.name());
            if (symbol != null) {
                symbol.addressTaken = true;
            }
        }
        return type == null ? null : new Type.Pointer(type, Space.KERNEL);
    }

    private @Nullable Type dereference(Expression.Unary e, Type type) {
        return switch (type) {
            case Type.Pointer p ->
                    p.to() instanceof Type.Void
                            ? typer.globals().error(e.span(), "Can not dereference type 'void *'.")
                            : FieldTypes.read(p.to(), p.space());
            case Tuple _ -> refused(e, type);
            case Composite c -> c;
            case Int _ -> Int.U64;
            default ->
                    typer.globals()
                            .error(
                                    e.span(),
                                    "Can not dereference type '"
                                            + type
                                            + "'. It is not a pointer.");
        };
    }

    private @Nullable Type step(Expression.Unary e, @Nullable Type type) {
        boolean decreases =
                e.operator() == UnaryOperator.PRE_DECREMENT
                        || e.operator() == UnaryOperator.POST_DECREMENT;
        Expression target = e.operand();
        if (!(target instanceof Expression.Variable)
                && !(target instanceof Expression.MapName)
                && !(target instanceof Expression.MapElement)) {
            return typer.globals()
                    .error(
                            e.span(),
                            "The "
                                    + e.operator().sign()
                                    + " operator must be applied to a map or variable");
        }
        if (type instanceof Type.Pointer) {
            return type;
        }
        if (type != null && !(type instanceof Int)) {
            return refused(e, type);
        }
        boolean fixed =
                target instanceof Expression.Variable v
                        && typer.find(v.name()) instanceof VariableSymbol s
                        && s.fixed;
        if (fixed) {
            return type;
        }
        Type result =
                type == null && target instanceof Expression.Variable
                        ? null
                        : decreases || type == null || Promotion.isSigned(type) ? Int.I64 : Int.U64;
        if (result != null) {
            typer.assign(target, result, e.span());
        }
        return result;
    }
}
