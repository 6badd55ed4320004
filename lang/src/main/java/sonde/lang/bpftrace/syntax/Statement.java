package sonde.lang.bpftrace.syntax;

import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Expression.Block;
import sonde.lang.bpftrace.syntax.Expression.MapName;
import sonde.lang.bpftrace.syntax.Expression.Variable;
import sonde.lang.source.Span;

/** A step of a block. */
public sealed interface Statement {
    /** Where it stands, with its semicolon. */
    Span span();

    /** An expression for its effect. */
    record Evaluate(Span span, Expression expression) implements Statement {}

    /**
     * {@code target = value}, {@code target += value}.
     *
     * @param operator of a compound assignment; null for a plain one
     */
    record Assign(Span span, Expression target, @Nullable BinaryOperator operator, Expression value)
            implements Statement {}

    /** {@code let $x: type = value}; type and value may be missing. */
    record Declare(
            Span span, Variable variable, @Nullable TypeSyntax type, @Nullable Expression value)
            implements Statement {}

    /** {@code _ = expression}: its value is not wanted. */
    record Discard(Span span, Expression expression) implements Statement {}

    /** {@code for ($i : from..to) body}; {@code to} is not reached. */
    record ForRange(Span span, Variable variable, Expression from, Expression to, Block body)
            implements Statement {}

    /** {@code for ($kv : @map) body}. */
    record ForMap(Span span, Variable variable, MapName map, Block body) implements Statement {}

    /** {@code while (condition) body}. */
    record While(Span span, Expression condition, Block body) implements Statement {}

    /** {@code unroll(count) body}. */
    record Unroll(Span span, Expression count, Block body) implements Statement {}

    /** {@code break}, {@code continue}, {@code return value}. */
    record Jump(Span span, Kind kind, @Nullable Expression value) implements Statement {
        /** Where to. */
        public enum Kind {
            BREAK,
            CONTINUE,
            RETURN
        }
    }

    /** {@code import "path"} within a block. */
    record Import(Span span, String path) implements Statement {}
}
