package sonde.lang.bpftrace.syntax;

import sonde.lang.source.Span;

/** A type as it is written. */
public sealed interface TypeSyntax {
    /** Where it stands. */
    Span span();

    /** {@code int32}, {@code struct task_struct}, {@code pid_t}. */
    record Named(Span span, Kind kind, String name) implements TypeSyntax {}

    /** {@code element *}. */
    record Pointer(Span span, TypeSyntax element) implements TypeSyntax {}

    /**
     * {@code element[count]}.
     *
     * @param count 0 for {@code element[]}: as many as the value has
     */
    record Array(Span span, TypeSyntax element, long count) implements TypeSyntax {}

    /** The type of an expression; a bare name may turn out to be a type's. */
    record Of(Span span, Expression expression) implements TypeSyntax {}

    /** Which name space a name is of. */
    enum Kind {
        /** A builtin type or a typedef. */
        PLAIN,
        STRUCT,
        UNION,
        ENUM
    }
}
