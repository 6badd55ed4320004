package sonde.lang.bpftrace.syntax;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.lang.source.Span;

/** What has a value, or is called for its effect. */
public sealed interface Expression {
    /** Where it stands. */
    Span span();

    /**
     * A number; durations are nanoseconds.
     *
     * @param value its 64 bits; beyond 2^63-1 it is unsigned
     */
    record IntegerLiteral(Span span, long value) implements Expression {}

    /**
     * A string.
     *
     * @param bytes its content, one char (0-255) for each byte, escapes resolved
     */
    record StringLiteral(Span span, String bytes) implements Expression {}

    /** {@code true}, {@code false}. */
    record BooleanLiteral(Span span, boolean value) implements Expression {}

    /** A bare word: a builtin, a constant, a macro without arguments or its parameter. */
    record Name(Span span, String name) implements Expression {}

    /** {@code $1}: an argument of the script, from 1. */
    record Positional(Span span, int number) implements Expression {}

    /** {@code $#}: how many arguments the script was given. */
    record PositionalCount(Span span) implements Expression {}

    /** {@code $name}. */
    record Variable(Span span, String name) implements Expression {}

    /** {@code @name} as a whole, or the only element of a map without keys; {@code @} too. */
    record MapName(Span span, String name) implements Expression {}

    /**
     * {@code @name[key]}.
     *
     * @param key a {@link Tuple} for several
     */
    record MapElement(Span span, MapName map, Expression key) implements Expression {}

    /** {@code function(arguments)}. */
    record Call(Span span, String function, List<Expression> arguments) implements Expression {
        public Call {
            arguments = List.copyOf(arguments);
        }
    }

    /** A type handed to a macro: {@code typeof(uint8)}. */
    record TypeArgument(Span span, TypeSyntax type) implements Expression {}

    /** An operator with one operand. */
    record Unary(Span span, UnaryOperator operator, Expression operand) implements Expression {}

    /** An operator with two operands. */
    record Binary(Span span, BinaryOperator operator, Expression left, Expression right)
            implements Expression {}

    /**
     * {@code condition ? then : otherwise}.
     *
     * @param then null for the condition's own value ({@code ?:})
     */
    record Ternary(Span span, Expression condition, @Nullable Expression then, Expression otherwise)
            implements Expression {}

    /**
     * {@code if condition { then } else otherwise}.
     *
     * @param otherwise a {@link Block}, another {@code If}, or null
     */
    record If(Span span, Expression condition, Block then, @Nullable Expression otherwise)
            implements Expression {}

    /**
     * {@code { statements; result }}.
     *
     * @param result its value; null when the last statement ended with a semicolon
     */
    record Block(Span span, List<Statement> statements, @Nullable Expression result)
            implements Expression {
        public Block {
            statements = List.copyOf(statements);
        }
    }

    /** {@code of.name}; {@code of->name} means the same. */
    record Field(Span span, Expression of, String name) implements Expression {}

    /** {@code of.0}: an element of a tuple, from 0. */
    record TupleElement(Span span, Expression of, int index) implements Expression {}

    /** {@code of[index]}. */
    record Index(Span span, Expression of, Expression index) implements Expression {}

    /** {@code (type)operand}. */
    record Cast(Span span, TypeSyntax type, Expression operand) implements Expression {}

    /** {@code (a, b)}, {@code (a,)}, {@code ()}. */
    record Tuple(Span span, List<Expression> elements) implements Expression {
        public Tuple {
            elements = List.copyOf(elements);
        }
    }

    /** {@code (a=1, b=2)}. */
    record RecordLiteral(Span span, List<Member> members) implements Expression {
        public RecordLiteral {
            members = List.copyOf(members);
        }

        /** {@code name=value}. */
        public record Member(Span span, String name, Expression value) {}
    }

    /** {@code sizeof(type)}. */
    record SizeOf(Span span, TypeSyntax type) implements Expression {}

    /** {@code offsetof(type, path)}; the path has at least one name. */
    record OffsetOf(Span span, TypeSyntax type, List<String> path) implements Expression {
        public OffsetOf {
            path = List.copyOf(path);
        }
    }

    /** {@code typeinfo(type)}. */
    record TypeInfo(Span span, TypeSyntax type) implements Expression {}

    /** {@code comptime operand}: known before the program runs. */
    record Comptime(Span span, Expression operand) implements Expression {}
}
