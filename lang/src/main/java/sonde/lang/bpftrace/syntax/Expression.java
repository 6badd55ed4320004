package sonde.lang.bpftrace.syntax;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.lang.source.SourceSpan;

/** What has a value, or is called for its effect. */
public sealed interface Expression {
    /** Where it stands. */
    SourceSpan span();

    /**
     * A number; durations are nanoseconds.
     *
     * @param value its 64 bits; beyond 2^63-1 it is unsigned
     */
    record IntegerLiteral(SourceSpan span, long value) implements Expression {}

    /**
     * A string.
     *
     * @param bytes its content, one char (0-255) for each byte, escapes resolved
     */
    record StringLiteral(SourceSpan span, String bytes) implements Expression {}

    /** {@code true}, {@code false}. */
    record BooleanLiteral(SourceSpan span, boolean value) implements Expression {}

    /** A bare word: a builtin, a constant, a macro without arguments or its parameter. */
    record BareName(SourceSpan span, String name) implements Expression {}

    /** {@code $1}: an argument of the script, from 1. */
    record Positional(SourceSpan span, int number) implements Expression {}

    /** {@code $#}: how many arguments the script was given. */
    record PositionalCount(SourceSpan span) implements Expression {}

    /** {@code $name}. */
    record ScratchVariable(SourceSpan span, String name) implements Expression {}

    /** {@code @name} as a whole, or the only element of a map without keys; {@code @} too. */
    record MapName(SourceSpan span, String name) implements Expression {}

    /**
     * {@code @name[key]}.
     *
     * @param key a {@link TupleLiteral} for several
     */
    record MapElement(SourceSpan span, MapName map, Expression key) implements Expression {}

    /** {@code function(arguments)}. */
    record FunctionCall(SourceSpan span, String function, List<Expression> arguments)
            implements Expression {
        public FunctionCall {
            arguments = List.copyOf(arguments);
        }
    }

    /** A type handed to a macro: {@code typeof(uint8)}. */
    record TypeArgument(SourceSpan span, TypeSyntax type) implements Expression {}

    /** An operator with one operand. */
    record UnaryOperation(SourceSpan span, UnaryOperator operator, Expression operand)
            implements Expression {}

    /** An operator with two operands. */
    record BinaryOperation(
            SourceSpan span, BinaryOperator operator, Expression left, Expression right)
            implements Expression {}

    /**
     * {@code condition ? then : otherwise}.
     *
     * @param then null for the condition's own value ({@code ?:})
     */
    record Ternary(
            SourceSpan span, Expression condition, @Nullable Expression then, Expression otherwise)
            implements Expression {}

    /**
     * {@code if condition { then } else otherwise}.
     *
     * @param otherwise a {@link BlockExpression}, another {@code If}, or null
     */
    record If(
            SourceSpan span,
            Expression condition,
            BlockExpression then,
            @Nullable Expression otherwise)
            implements Expression {}

    /**
     * {@code { statements; result }}.
     *
     * @param result its value; null when the last statement ended with a semicolon
     */
    record BlockExpression(
            SourceSpan span, List<ScriptStatement> statements, @Nullable Expression result)
            implements Expression {
        public BlockExpression {
            statements = List.copyOf(statements);
        }
    }

    /** {@code of.name}; {@code of->name} means the same. */
    record MemberAccess(SourceSpan span, Expression of, String name) implements Expression {}

    /** {@code of.0}: an element of a tuple, from 0. */
    record TupleElement(SourceSpan span, Expression of, int index) implements Expression {}

    /** {@code of[index]}. */
    record IndexAccess(SourceSpan span, Expression of, Expression index) implements Expression {}

    /** {@code (type)operand}. */
    record TypeCast(SourceSpan span, TypeSyntax type, Expression operand) implements Expression {}

    /** {@code (a, b)}, {@code (a,)}, {@code ()}. */
    record TupleLiteral(SourceSpan span, List<Expression> elements) implements Expression {
        public TupleLiteral {
            elements = List.copyOf(elements);
        }
    }

    /** {@code (a=1, b=2)}. */
    record RecordLiteral(SourceSpan span, List<RecordMember> members) implements Expression {
        public RecordLiteral {
            members = List.copyOf(members);
        }

        /** {@code name=value}. */
        public record RecordMember(SourceSpan span, String name, Expression value) {}
    }

    /** {@code sizeof(type)}. */
    record SizeOf(SourceSpan span, TypeSyntax type) implements Expression {}

    /** {@code offsetof(type, path)}; the path has at least one name. */
    record OffsetOf(SourceSpan span, TypeSyntax type, List<String> path) implements Expression {
        public OffsetOf {
            path = List.copyOf(path);
        }
    }

    /** {@code typeinfo(type)}. */
    record TypeDescription(SourceSpan span, TypeSyntax type) implements Expression {}

    /** {@code comptime operand}: known before the program runs. */
    record Comptime(SourceSpan span, Expression operand) implements Expression {}
}
