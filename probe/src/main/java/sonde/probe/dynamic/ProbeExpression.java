package sonde.probe.dynamic;

import sonde.symbol.ctype.NamedTypes.NameSpace;

/** A source expression. {@code at} is the column of its text where it stands, for messages. */
sealed interface ProbeExpression {
    int at();

    /** A variable. */
    record VariableName(int at, String name) implements ProbeExpression {}

    /** {@code $retval}, {@code $arg1}, {@code $comm}, {@code $stack}, {@code $stack2}. */
    record SpecialName(int at, String name) implements ProbeExpression {}

    /** {@code %di}. */
    record RegisterName(int at, String name) implements ProbeExpression {}

    record NumberLiteral(int at, long value) implements ProbeExpression {}

    /** What is written in the kernel's own words and goes there as it is. */
    record RawFetch(int at, String text) implements ProbeExpression {}

    /** {@code of.name}, {@code of->name}. */
    record MemberOf(int at, ProbeExpression of, String name, boolean isArrow)
            implements ProbeExpression {}

    record ElementAt(int at, ProbeExpression of, long index) implements ProbeExpression {}

    record Dereference(int at, ProbeExpression of) implements ProbeExpression {}

    record AddressOf(int at, ProbeExpression of) implements ProbeExpression {}

    /** A pointer or number moved by a constant. */
    record PointerOffset(int at, ProbeExpression of, long amount) implements ProbeExpression {}

    record CastTo(int at, TypeWords type, ProbeExpression of) implements ProbeExpression {}

    /** {@code container_of(of, type, path)}: the structure that has {@code of} as a member. */
    record ContainerOf(int at, ProbeExpression of, TypeWords type, ProbeExpression path)
            implements ProbeExpression {}

    /** The object itself, in the path of {@link ContainerOf}. */
    record ContainerItself(int at) implements ProbeExpression {}

    /** A type as written: a name in its name space, and stars. */
    record TypeWords(int at, NameSpace space, String name, int stars) {}
}
