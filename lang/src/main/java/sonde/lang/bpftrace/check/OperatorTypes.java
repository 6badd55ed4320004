package sonde.lang.bpftrace.check;

import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.BinaryOperator;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.BinaryOperation;
import sonde.lang.bpftrace.syntax.Expression.ScratchVariable;
import sonde.lang.bpftrace.syntax.Expression.UnaryOperation;
import sonde.lang.bpftrace.syntax.UnaryOperator;
import sonde.lang.type.CompositeType;
import sonde.lang.type.TupleType;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.ArrayType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.PointerSpace;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.VoidType;

/** What operators make of their operands. */
final class OperatorTypes {
    private final ClauseTyper typer;

    OperatorTypes(ClauseTyper typer) {
        this.typer = typer;
    }

    @Nullable ValueType binary(BinaryOperation e) {
        ValueType left = typer.type(e.left());
        ValueType right = typer.type(e.right());
        if (left == null || right == null) {
            return e.operator().isComparison() ? new BoolType() : null;
        }
        return of(e, e.operator(), left, right);
    }

    /** What {@code left operator right} is. */
    @Nullable ValueType of(Expression e, BinaryOperator operator, ValueType left, ValueType right) {
        boolean logical =
                operator == BinaryOperator.LOGICAL_AND || operator == BinaryOperator.LOGICAL_OR;
        boolean compares = operator.isComparison() || logical;
        if (left instanceof PointerType || right instanceof PointerType) {
            return pointers(e, operator, left, right, compares, logical);
        }
        if (isNumber(left) && isNumber(right)) {
            if (compares) {
                return new BoolType();
            }
            if (left instanceof BoolType && right instanceof BoolType) {
                return new BoolType();
            }
            return numbers(e, operator, left, right);
        }
        if (logical) {
            return refused(e, operator, left, right);
        }
        boolean equality = operator == BinaryOperator.EQUAL || operator == BinaryOperator.NOT_EQUAL;
        if (left instanceof ArrayType a && right instanceof ArrayType b) {
            return arrays(e, operator, a, b, equality);
        }
        if (TypePromotion.of(left, right) == null && !(left.equals(right))) {
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
        return equality ? new BoolType() : refused(e, operator, left, right);
    }

    private @Nullable ValueType arrays(
            Expression e, BinaryOperator operator, ArrayType a, ArrayType b, boolean equality) {
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
        if (!(a.element() instanceof IntType) || !a.equals(b)) {
            return typer.globals()
                    .error(
                            e.span(),
                            "Only arrays of same sized integer support comparison operators.");
        }
        return new BoolType();
    }

    private @Nullable ValueType refused(
            Expression e, BinaryOperator o, ValueType left, ValueType right) {
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

    private @Nullable ValueType pointers(
            Expression e,
            BinaryOperator operator,
            ValueType left,
            ValueType right,
            boolean compares,
            boolean logical) {
        boolean both = left instanceof PointerType && right instanceof PointerType;
        if (both) {
            return compares ? new BoolType() : refused(e, operator, left, right);
        }
        ValueType other = left instanceof PointerType ? right : left;
        PointerType pointer = (PointerType) (left instanceof PointerType ? left : right);
        if (!(other instanceof IntType) && !(other instanceof BoolType)) {
            return refused(e, operator, left, right);
        }
        if (compares) {
            return new BoolType();
        }
        boolean fits =
                operator == BinaryOperator.ADD
                        || operator == BinaryOperator.SUBTRACT && left instanceof PointerType;
        return fits && !logical ? pointer : refused(e, operator, left, right);
    }

    private ValueType numbers(
            Expression e, BinaryOperator operator, ValueType left, ValueType right) {
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
    static ValueType number(BinaryOperator operator, ValueType left, ValueType right) {
        boolean signed =
                isSigned(left, right)
                        || isSigned(right, left)
                        || operator == BinaryOperator.SUBTRACT;
        return signed ? IntType.I64 : IntType.U64;
    }

    /** Whether an operand is signed: a literal that could be either is as the other one is. */
    private static boolean isSigned(ValueType operand, ValueType other) {
        boolean asOther = isEither(operand) && !isEither(other);
        return TypePromotion.isSigned(asOther ? other : operand);
    }

    private static boolean isEither(ValueType type) {
        return type instanceof IntType i && i.either();
    }

    static boolean isNumber(ValueType type) {
        return type instanceof IntType
                || type instanceof BoolType
                || type instanceof EnumType
                || TypePromotion.isNumber(type);
    }

    @Nullable ValueType unary(UnaryOperation e) {
        UnaryOperator operator = e.operator();
        if (operator == UnaryOperator.ADDRESS) {
            return address(e);
        }
        if (operator == UnaryOperator.NEGATE
                && e.operand() instanceof Expression.IntegerLiteral n) {
            typer.type(n);
            return TypePromotion.literal(-n.value(), true);
        }
        ValueType type = typer.type(e.operand());
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
            return isNumber(type) || type instanceof PointerType
                    ? new BoolType()
                    : refused(e, type);
        }
        if (!isNumber(type) || type instanceof BoolType) {
            return refused(e, type);
        }
        return TypePromotion.isSigned(type) ? IntType.I64 : IntType.U64;
    }

    private @Nullable ValueType refused(UnaryOperation e, ValueType type) {
        return typer.globals()
                .error(
                        e.span(),
                        "The "
                                + e.operator().sign()
                                + " operator can not be used on expressions of type '"
                                + type
                                + "'");
    }

    private @Nullable ValueType address(UnaryOperation e) {
        if (e.operand() instanceof Expression.MapName m) {
            typer.globals().map(m.name());
            return new PointerType(new VoidType(), PointerSpace.OWN);
        }
        ValueType type = typer.type(e.operand());
        if (e.operand() instanceof ScratchVariable v) {
            VariableSymbol symbol = typer.find(v.name());
            if (symbol != null) {
                symbol.addressTaken = true;
            }
        }
        return type == null ? null : new PointerType(type, PointerSpace.KERNEL);
    }

    private @Nullable ValueType dereference(UnaryOperation e, ValueType type) {
        return switch (type) {
            case PointerType p ->
                    p.to() instanceof VoidType
                            ? typer.globals().error(e.span(), "Can not dereference type 'void *'.")
                            : FieldTypes.read(p.to(), p.space());
            case TupleType _ -> refused(e, type);
            case CompositeType c -> c;
            case IntType _ -> IntType.U64;
            default ->
                    typer.globals()
                            .error(
                                    e.span(),
                                    "Can not dereference type '"
                                            + type
                                            + "'. It is not a pointer.");
        };
    }

    private @Nullable ValueType step(UnaryOperation e, @Nullable ValueType type) {
        boolean decreases =
                e.operator() == UnaryOperator.PRE_DECREMENT
                        || e.operator() == UnaryOperator.POST_DECREMENT;
        Expression target = e.operand();
        if (!(target instanceof ScratchVariable)
                && !(target instanceof Expression.MapName)
                && !(target instanceof Expression.MapElement)) {
            return typer.globals()
                    .error(
                            e.span(),
                            "The "
                                    + e.operator().sign()
                                    + " operator must be applied to a map or variable");
        }
        if (type instanceof PointerType) {
            return type;
        }
        if (type != null && !(type instanceof IntType)) {
            return refused(e, type);
        }
        boolean fixed =
                target instanceof ScratchVariable v
                        && typer.find(v.name()) instanceof VariableSymbol s
                        && s.fixed;
        if (fixed) {
            return type;
        }
        ValueType result =
                type == null && target instanceof ScratchVariable
                        ? null
                        : decreases || type == null || TypePromotion.isSigned(type)
                                ? IntType.I64
                                : IntType.U64;
        if (result != null) {
            typer.assign(target, result, e.span());
        }
        return result;
    }
}
