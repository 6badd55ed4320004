package sonde.lang.bpftrace.syntax;

import sonde.lang.source.SourceSpan;

/** A type as it is written. */
public sealed interface TypeSyntax {
    /** Where it stands. */
    SourceSpan span();

    /** {@code int32}, {@code struct task_struct}, {@code pid_t}. */
    record NamedSyntax(SourceSpan span, Kind kind, String name) implements TypeSyntax {}

    /** {@code element *}. */
    record PointerSyntax(SourceSpan span, TypeSyntax element) implements TypeSyntax {}

    /**
     * {@code element[count]}.
     *
     * @param count 0 for {@code element[]}: as many as the value has
     */
    record ArraySyntax(SourceSpan span, TypeSyntax element, long count) implements TypeSyntax {}

    /** The type of an expression; a bare name may turn out to be a type's. */
    record TypeofSyntax(SourceSpan span, Expression expression) implements TypeSyntax {}

    /** Which name space a name is of. */
    enum Kind {
        /** A builtin type or a typedef. */
        PLAIN,
        STRUCT,
        UNION,
        ENUM
    }
}
