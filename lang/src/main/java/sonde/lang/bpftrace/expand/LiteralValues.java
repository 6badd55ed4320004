package sonde.lang.bpftrace.expand;

import java.math.BigInteger;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.IntegerLiteral;
import sonde.lang.bpftrace.syntax.Expression.TupleLiteral;
import sonde.lang.bpftrace.syntax.Expression.UnaryOperation;
import sonde.lang.bpftrace.syntax.UnaryOperator;
import sonde.lang.source.SourceSpan;

/** Literals as values. A negative number is a literal behind one minus. */
final class LiteralValues {
    private static final BigInteger LIMIT = BigInteger.ONE.shiftLeft(64);

    private LiteralValues() {}

    /** The number an expression is; null when it is not a literal. */
    static @Nullable BigInteger value(Expression expression) {
        return switch (expression) {
            case IntegerLiteral(var span, var value) -> unsigned(value);
            case UnaryOperation(var span, var operator, IntegerLiteral(var at, var value)) ->
                    operator == UnaryOperator.NEGATE ? unsigned(value).negate() : null;
            default -> null;
        };
    }

    private static BigInteger unsigned(long value) {
        BigInteger signed = BigInteger.valueOf(value);
        return value < 0 ? signed.add(LIMIT) : signed;
    }

    /** A number from -2^63 to 2^64-1 as an expression. */
    static Expression integer(SourceSpan span, BigInteger value) {
        Expression magnitude = new IntegerLiteral(span, value.abs().longValue());
        return value.signum() < 0
                ? new UnaryOperation(span, UnaryOperator.NEGATE, magnitude)
                : magnitude;
    }

    /** Whether all of an expression is written out: numbers, strings, truths, tuples of them. */
    static boolean is(Expression expression) {
        return switch (expression) {
            case Expression.StringLiteral string -> true;
            case Expression.BooleanLiteral truth -> true;
            case TupleLiteral(var span, var elements) ->
                    elements.stream().allMatch(LiteralValues::is);
            case Expression.RecordLiteral(var span, var members) ->
                    members.stream().allMatch(member -> is(member.value()));
            default -> value(expression) != null;
        };
    }

    /** The truth of a number, string or truth; null for all others. */
    static @Nullable Boolean truth(Expression expression) {
        return switch (expression) {
            case Expression.StringLiteral(var span, var bytes) -> !bytes.isEmpty();
            case Expression.BooleanLiteral(var span, var value) -> value;
            default -> {
                BigInteger number = value(expression);
                yield number == null ? null : number.signum() != 0;
            }
        };
    }
}
