package sonde.lang.bpftrace.expand;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.BinaryOperator;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.BinaryOperation;
import sonde.lang.bpftrace.syntax.Expression.BooleanLiteral;
import sonde.lang.bpftrace.syntax.Expression.RecordLiteral;
import sonde.lang.bpftrace.syntax.Expression.RecordLiteral.RecordMember;
import sonde.lang.bpftrace.syntax.Expression.StringLiteral;
import sonde.lang.bpftrace.syntax.Expression.TupleLiteral;
import sonde.lang.source.CompilerDiagnostics;

/** Operators on two literals. */
record LiteralArithmetic(CompilerDiagnostics diagnostics) {
    private static final BigInteger LIMIT = BigInteger.ONE.shiftLeft(64);
    private static final BigInteger LEAST = BigInteger.ONE.shiftLeft(63).negate();
    private static final BigInteger MOST = LEAST.negate().subtract(BigInteger.ONE);
    private static final String ZERO = "division by zero";
    private static final String FLOW = "unable to fold literals due to overflow or underflow";

    Expression fold(BinaryOperation binary) {
        Expression left = binary.left();
        Expression right = binary.right();
        BigInteger first = LiteralValues.value(left);
        BigInteger second = LiteralValues.value(right);
        if (first != null && second != null) {
            return numbers(binary, first, second);
        }
        if (left instanceof StringLiteral || right instanceof StringLiteral) {
            return strings(binary);
        }
        Boolean a = LiteralValues.truth(left);
        Boolean b = LiteralValues.truth(right);
        boolean both = left instanceof BooleanLiteral && right instanceof BooleanLiteral;
        if (a != null && b != null && (both || isLogical(binary.operator()))) {
            return truths(binary, a, b);
        }
        boolean equality =
                binary.operator() == BinaryOperator.EQUAL
                        || binary.operator() == BinaryOperator.NOT_EQUAL;
        boolean composite =
                (left instanceof TupleLiteral && right instanceof TupleLiteral)
                        || (left instanceof RecordLiteral && right instanceof RecordLiteral);
        Boolean same = equality && composite ? same(left, right) : null;
        return same == null
                ? binary
                : new BooleanLiteral(
                        binary.span(), same == (binary.operator() == BinaryOperator.EQUAL));
    }

    private static boolean isLogical(BinaryOperator operator) {
        return operator == BinaryOperator.LOGICAL_AND || operator == BinaryOperator.LOGICAL_OR;
    }

    private Expression numbers(BinaryOperation binary, BigInteger left, BigInteger right) {
        boolean signed = left.signum() < 0 || right.signum() < 0;
        if (signed && left.max(right).compareTo(MOST) > 0) {
            diagnostics.error(binary.span(), FLOW);
            return binary;
        }
        Boolean truth = truth(binary.operator(), left.compareTo(right));
        if (truth != null) {
            return new BooleanLiteral(binary.span(), truth);
        }
        if (isLogical(binary.operator())) {
            return truths(binary, left.signum() != 0, right.signum() != 0);
        }
        BigInteger value = value(binary.operator(), left, right);
        BigInteger limit = signed && binary.operator() == BinaryOperator.SUBTRACT ? MOST : null;
        boolean fits =
                value != null
                        && value.compareTo(LEAST) >= 0
                        && value.compareTo(LIMIT) < 0
                        && (limit == null || value.compareTo(limit) <= 0);
        if (value == null || !fits) {
            boolean divides =
                    binary.operator() == BinaryOperator.DIVIDE
                            || binary.operator() == BinaryOperator.MODULO;
            diagnostics.error(binary.span(), divides && right.signum() == 0 ? ZERO : FLOW);
            return binary;
        }
        return LiteralValues.integer(binary.span(), value);
    }

    /** What an ordering of the operands makes of a comparison; null for other operators. */
    private static @Nullable Boolean truth(BinaryOperator operator, int order) {
        return switch (operator) {
            case EQUAL -> order == 0;
            case NOT_EQUAL -> order != 0;
            case LESS -> order < 0;
            case LESS_OR_EQUAL -> order <= 0;
            case GREATER -> order > 0;
            case GREATER_OR_EQUAL -> order >= 0;
            case LOGICAL_OR,
                    LOGICAL_AND,
                    OR,
                    XOR,
                    AND,
                    SHIFT_LEFT,
                    SHIFT_RIGHT,
                    ADD,
                    SUBTRACT,
                    MULTIPLY,
                    DIVIDE,
                    MODULO ->
                    null;
        };
    }

    private static @Nullable BigInteger value(
            BinaryOperator operator, BigInteger left, BigInteger right) {
        return switch (operator) {
            case OR -> left.or(right);
            case XOR -> left.xor(right);
            case AND -> left.and(right);
            case ADD -> left.add(right);
            case SUBTRACT -> left.subtract(right);
            case MULTIPLY -> left.multiply(right);
            case DIVIDE -> right.signum() == 0 ? null : left.divide(right);
            case MODULO -> right.signum() == 0 ? null : left.remainder(right);
            case SHIFT_LEFT -> isShift(right) ? shifted(left, right.intValue()) : null;
            case SHIFT_RIGHT -> isShift(right) ? left.shiftRight(right.intValue()) : null;
            case LOGICAL_OR,
                    LOGICAL_AND,
                    EQUAL,
                    NOT_EQUAL,
                    LESS,
                    LESS_OR_EQUAL,
                    GREATER,
                    GREATER_OR_EQUAL ->
                    null;
        };
    }

    private static boolean isShift(BigInteger by) {
        return by.signum() >= 0 && by.compareTo(BigInteger.valueOf(64)) < 0;
    }

    /** Bits beyond the 64th are lost. */
    private static BigInteger shifted(BigInteger value, int by) {
        long bits = value.longValue() << by;
        BigInteger signed = BigInteger.valueOf(bits);
        return value.signum() >= 0 && bits < 0 ? signed.add(LIMIT) : signed;
    }

    private Expression truths(BinaryOperation binary, boolean left, boolean right) {
        boolean divides =
                binary.operator() == BinaryOperator.DIVIDE
                        || binary.operator() == BinaryOperator.MODULO;
        if (divides && !right) {
            diagnostics.error(binary.span(), ZERO);
            return binary;
        }
        boolean value =
                switch (binary.operator()) {
                    case LOGICAL_OR, OR, ADD -> left || right;
                    case LOGICAL_AND, AND, MULTIPLY, DIVIDE -> left && right;
                    case XOR, NOT_EQUAL, SUBTRACT -> left != right;
                    case EQUAL -> left == right;
                    case LESS, SHIFT_LEFT -> !left && right;
                    case LESS_OR_EQUAL -> !left || right;
                    case GREATER, SHIFT_RIGHT -> left && !right;
                    case GREATER_OR_EQUAL -> left || !right;
                    case MODULO -> false;
                };
        return new BooleanLiteral(binary.span(), value);
    }

    /** At least one is a string. */
    private Expression strings(BinaryOperation binary) {
        boolean leftIs = binary.left() instanceof StringLiteral;
        Expression other = leftIs ? binary.right() : binary.left();
        StringLiteral string = (StringLiteral) (leftIs ? binary.left() : binary.right());
        BigInteger offset = LiteralValues.value(other);
        if (offset != null) {
            return binary.operator() == BinaryOperator.ADD && offset.signum() >= 0
                    ? behind(binary, string, offset)
                    : binary;
        }
        boolean logical = isLogical(binary.operator());
        Boolean a = LiteralValues.truth(binary.left());
        Boolean b = LiteralValues.truth(binary.right());
        if (logical && a != null && b != null) {
            return truths(binary, a, b);
        }
        if (!(binary.left() instanceof StringLiteral left)
                || !(binary.right() instanceof StringLiteral right)) {
            return binary;
        }
        Boolean truth = truth(binary.operator(), left.bytes().compareTo(right.bytes()));
        if (truth != null) {
            return new BooleanLiteral(binary.span(), truth);
        }
        if (binary.operator() == BinaryOperator.ADD) {
            return new StringLiteral(binary.span(), left.bytes() + right.bytes());
        }
        diagnostics.error(binary.span(), "illegal literal operation with strings");
        return binary;
    }

    private Expression behind(BinaryOperation binary, StringLiteral string, BigInteger offset) {
        String bytes = string.bytes();
        if (offset.compareTo(BigInteger.valueOf(bytes.length())) >= 0) {
            diagnostics.warning(binary.span(), "literal string will always be empty", "");
            return new StringLiteral(binary.span(), "");
        }
        return new StringLiteral(binary.span(), bytes.substring(offset.intValue()));
    }

    /** Whether two are the same; null when that shows only when the program runs. */
    private static @Nullable Boolean same(Expression left, Expression right) {
        List<Expression> first = new ArrayList<>();
        List<Expression> second = new ArrayList<>();
        if (left instanceof TupleLiteral(var span, var ones)
                && right instanceof TupleLiteral(var at, var others)) {
            first.addAll(ones);
            second.addAll(others);
        } else if (left instanceof RecordLiteral(var span, var ones)
                && right instanceof RecordLiteral other) {
            for (RecordMember one : ones) {
                first.add(one.value());
                Expression value = ConstantFolding.member(other, one.name(), other);
                if (value.equals(other)) {
                    return null;
                }
                second.add(value);
            }
            if (ones.size() != other.members().size()) {
                return false;
            }
        } else {
            return literals(left, right);
        }
        return first.size() != second.size() ? Boolean.FALSE : all(first, second);
    }

    private static @Nullable Boolean all(List<Expression> first, List<Expression> second) {
        for (int i = 0; i < first.size(); i++) {
            Boolean same = same(first.get(i), second.get(i));
            if (same == null || !same) {
                return same;
            }
        }
        return true;
    }

    private static @Nullable Boolean literals(Expression left, Expression right) {
        if (!LiteralValues.is(left) || !LiteralValues.is(right)) {
            return null;
        }
        BigInteger number = LiteralValues.value(left);
        if (number != null) {
            return number.equals(LiteralValues.value(right));
        }
        return switch (left) {
            case StringLiteral(var span, var bytes) ->
                    right instanceof StringLiteral(var at, var other) && bytes.equals(other);
            case BooleanLiteral(var span, var value) ->
                    right instanceof BooleanLiteral(var at, var other) && value == other;
            default -> false;
        };
    }
}
