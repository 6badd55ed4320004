package sonde.lang.bpftrace.check;

import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.BinaryOperator;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.BareName;
import sonde.lang.bpftrace.syntax.Expression.BinaryOperation;
import sonde.lang.bpftrace.syntax.Expression.BlockExpression;
import sonde.lang.bpftrace.syntax.Expression.FunctionCall;
import sonde.lang.bpftrace.syntax.Expression.MemberAccess;
import sonde.lang.bpftrace.syntax.Expression.UnaryOperation;
import sonde.lang.bpftrace.syntax.UnaryOperator;
import sonde.lang.type.CompositeType;
import sonde.lang.type.TupleType;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.ArrayType;
import sonde.lang.type.ValueType.BytesType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.TextType;

/** Values that are known before the program runs. */
public final class ComptimeValues {
    private final ClauseTyper typer;

    ComptimeValues(ClauseTyper typer) {
        this.typer = typer;
    }

    /** A Long, a String or a Boolean; null when it is not known, or not yet. */
    @Nullable Object value(Expression expression) {
        return switch (expression) {
            case Expression.IntegerLiteral e -> e.value();
            case Expression.StringLiteral e -> e.bytes();
            case Expression.BooleanLiteral e -> e.value();
            case Expression.Comptime e -> value(e.operand());
            case UnaryOperation e -> unary(e);
            case BinaryOperation e -> binary(e);
            case Expression.Ternary e -> ternary(e);
            case BareName e -> name(e);
            case Expression.SizeOf e -> size(e);
            case MemberAccess e -> member(e);
            case FunctionCall e -> call(e);
            case BlockExpression e ->
                    e.statements().isEmpty() && e.result() != null ? value(e.result()) : null;
            default -> null;
        };
    }

    private @Nullable Object name(BareName e) {
        if (e.name().equals("probetype")) {
            return typer.site().family();
        }
        return typer.globals().environment().constant(e.name());
    }

    private @Nullable Object size(Expression.SizeOf e) {
        ValueType type = typer.reader().type(e.type());
        return type == null ? null : (Object) (long) type.sizeBytes();
    }

    private @Nullable Object member(MemberAccess e) {
        if (!(e.of() instanceof Expression.TypeDescription d)) {
            return null;
        }
        ValueType type = typer.reader().type(d.type());
        if (type == null) {
            return null;
        }
        return switch (e.name()) {
            case "base_type", "base_ty" -> family(type);
            case "full_type", "full_ty" -> type.toString();
            case "btf_id" -> 0L;
            default -> null;
        };
    }

    private @Nullable Object unary(UnaryOperation e) {
        Object value = value(e.operand());
        if (e.operator() == UnaryOperator.NOT && value != null) {
            return !truth(value);
        }
        if (!(value instanceof Long n)) {
            return null;
        }
        return switch (e.operator()) {
            case NEGATE -> -n;
            case COMPLEMENT -> ~n;
            default -> null;
        };
    }

    private @Nullable Object ternary(Expression.Ternary e) {
        Object condition = value(e.condition());
        if (condition == null) {
            return null;
        }
        Expression then = e.then();
        return truth(condition) ? then == null ? condition : value(then) : value(e.otherwise());
    }

    private @Nullable Object binary(BinaryOperation e) {
        if (e.left() instanceof Expression.TypeDescription left
                && e.right() instanceof Expression.TypeDescription right) {
            ValueType a = typer.reader().type(left.type());
            ValueType b = typer.reader().type(right.type());
            return a == null || b == null
                    ? null
                    : switch (e.operator()) {
                        case EQUAL -> a.toString().equals(b.toString());
                        case NOT_EQUAL -> !a.toString().equals(b.toString());
                        default -> null;
                    };
        }
        Object left = value(e.left());
        if (left != null && e.operator() == BinaryOperator.LOGICAL_AND && !truth(left)) {
            return false;
        }
        if (left != null && e.operator() == BinaryOperator.LOGICAL_OR && truth(left)) {
            return true;
        }
        Object right = value(e.right());
        if (left == null || right == null) {
            return null;
        }
        if (e.operator() == BinaryOperator.LOGICAL_AND
                || e.operator() == BinaryOperator.LOGICAL_OR) {
            return truth(right);
        }
        if (left instanceof Long a && right instanceof Long b) {
            ValueType type = typer.type(e.left());
            boolean unsigned = type != null && !TypePromotion.isSigned(type);
            return e.operator() == BinaryOperator.SHIFT_RIGHT && unsigned
                    ? (Object) (a >>> b)
                    : numbers(e.operator(), a, b);
        }
        return switch (e.operator()) {
            case EQUAL -> left.equals(right);
            case NOT_EQUAL -> !left.equals(right);
            default -> null;
        };
    }

    private static @Nullable Object numbers(BinaryOperator operator, long a, long b) {
        return switch (operator) {
            case EQUAL -> a == b;
            case NOT_EQUAL -> a != b;
            case LESS -> a < b;
            case LESS_OR_EQUAL -> a <= b;
            case GREATER -> a > b;
            case GREATER_OR_EQUAL -> a >= b;
            case ADD -> a + b;
            case SUBTRACT -> a - b;
            case MULTIPLY -> a * b;
            case DIVIDE -> b == 0 ? null : (Object) (a / b);
            case MODULO -> b == 0 ? null : (Object) (a % b);
            case AND -> a & b;
            case OR -> a | b;
            case XOR -> a ^ b;
            case SHIFT_LEFT -> a << b;
            case SHIFT_RIGHT -> a >> b;
            case LOGICAL_AND -> a != 0 && b != 0;
            case LOGICAL_OR -> a != 0 || b != 0;
        };
    }

    private @Nullable Object call(FunctionCall e) {
        if (e.arguments().isEmpty()) {
            return null;
        }
        Expression first = e.arguments().getFirst();
        switch (e.function()) {
            case "kfunc_exist", "kfunc_allowed" -> {
                return value(first) instanceof String name
                        && typer.globals().environment().hasKernelFunction(name);
            }
            case "is_literal" -> {
                return isLiteral(first);
            }
            case "is_scalar" -> {
                return first instanceof Expression.MapName m
                        && typer.globals().map(m.name()).isScalar();
            }
            default -> {}
        }
        if (!e.function().startsWith("is_")) {
            return null;
        }
        ValueType type = typer.type(first);
        if (type == null) {
            return null;
        }
        return switch (e.function()) {
            case "is_integer" -> type instanceof IntType || type instanceof EnumType;
            case "is_unsigned_integer" -> type instanceof IntType i && !i.signed();
            case "is_ptr" -> type instanceof PointerType;
            case "is_str" -> type instanceof TextType;
            case "is_array" -> type instanceof ArrayType;
            default -> null;
        };
    }

    private static boolean isLiteral(Expression e) {
        return e instanceof Expression.IntegerLiteral
                || e instanceof Expression.StringLiteral
                || e instanceof Expression.BooleanLiteral
                || e instanceof UnaryOperation u
                        && u.operator() == UnaryOperator.NEGATE
                        && u.operand() instanceof Expression.IntegerLiteral;
    }

    public static boolean truth(Object value) {
        return switch (value) {
            case Boolean b -> b;
            case Long n -> n != 0;
            default -> !value.toString().isEmpty();
        };
    }

    /** The family of a type, as {@code typeinfo(x).base_type} names it. */
    public static String family(ValueType type) {
        return switch (type) {
            case IntType _, EnumType _ -> "int";
            case TextType _ -> "string";
            case BytesType _ -> "buffer";
            case PointerType _ -> "pointer";
            case ArrayType _ -> "array";
            case CompositeType c ->
                    c instanceof TupleType t ? t.named() ? "record" : "tuple" : "c_type";
            default -> type.toString();
        };
    }
}
