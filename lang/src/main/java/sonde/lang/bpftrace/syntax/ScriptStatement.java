package sonde.lang.bpftrace.syntax;

import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Expression.BlockExpression;
import sonde.lang.bpftrace.syntax.Expression.MapName;
import sonde.lang.bpftrace.syntax.Expression.ScratchVariable;
import sonde.lang.source.SourceSpan;

/** A step of a block. */
public sealed interface ScriptStatement {
    /** Where it stands, with its semicolon. */
    SourceSpan span();

    /** An expression for its effect. */
    record Evaluate(SourceSpan span, Expression expression) implements ScriptStatement {}

    /**
     * {@code target = value}, {@code target += value}.
     *
     * @param operator of a compound assignment; null for a plain one
     */
    record Assign(
            SourceSpan span, Expression target, @Nullable BinaryOperator operator, Expression value)
            implements ScriptStatement {}

    /** {@code let $x: type = value}; type and value may be missing. */
    record Declare(
            SourceSpan span,
            ScratchVariable variable,
            @Nullable TypeSyntax type,
            @Nullable Expression value)
            implements ScriptStatement {}

    /** {@code _ = expression}: its value is not wanted. */
    record Discard(SourceSpan span, Expression expression) implements ScriptStatement {}

    /** {@code for ($i : from..to) body}; {@code to} is not reached. */
    record ForRange(
            SourceSpan span,
            ScratchVariable variable,
            Expression from,
            Expression to,
            BlockExpression body)
            implements ScriptStatement {}

    /** {@code for ($kv : @map) body}. */
    record ForMap(SourceSpan span, ScratchVariable variable, MapName map, BlockExpression body)
            implements ScriptStatement {}

    /** {@code while (condition) body}. */
    record While(SourceSpan span, Expression condition, BlockExpression body)
            implements ScriptStatement {}

    /** {@code unroll(count) body}. */
    record Unroll(SourceSpan span, Expression count, BlockExpression body)
            implements ScriptStatement {}

    /** {@code break}, {@code continue}, {@code return value}. */
    record JumpStatement(SourceSpan span, Kind kind, @Nullable Expression value)
            implements ScriptStatement {
        /** Where to. */
        public enum Kind {
            BREAK,
            CONTINUE,
            RETURN
        }
    }

    /** {@code import "path"} within a block. */
    record LocalImport(SourceSpan span, String path) implements ScriptStatement {}
}
