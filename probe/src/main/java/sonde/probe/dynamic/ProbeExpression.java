package sonde.probe.dynamic;

import sonde.symbol.ctype.NamedTypes;

/** A source expression. {@code at} is the column of its text where it stands, for messages. */
sealed interface ProbeExpression {
    int at();

    /** A variable. */
    record Name(int at, String name) implements ProbeExpression {}

    /** {@code $retval}, {@code $arg1}, {@code $comm}, {@code $stack}, {@code $stack2}. */
    record Special(int at, String name) implements ProbeExpression {}

    /** {@code %di}. */
    record Register(int at, String name) implements ProbeExpression {}

    record Literal(int at, long value) implements ProbeExpression {}

    /** What is written in the kernel's own words and goes there as it is. */
    record Raw(int at, String text) implements ProbeExpression {}

    /** {@code of.name}, {@code of->name}. */
    record Member(int at, ProbeExpression of, String name, boolean isArrow)
            implements ProbeExpression {}

    record Index(int at, ProbeExpression of, long index) implements ProbeExpression {}

    record Dereference(int at, ProbeExpression of) implements ProbeExpression {}

    record AddressOf(int at, ProbeExpression of) implements ProbeExpression {}

    /** A pointer or number moved by a constant. */
    record Plus(int at, ProbeExpression of, long amount) implements ProbeExpression {}

    record Cast(int at, TypeWords type, ProbeExpression of) implements ProbeExpression {}

    /** {@code container_of(of, type, path)}: the structure that has {@code of} as a member. */
    record ContainerOf(int at, ProbeExpression of, TypeWords type, ProbeExpression path)
            implements ProbeExpression {}

    /** The object itself, in the path of {@link ContainerOf}. */
    record Whole(int at) implements ProbeExpression {}

    /** A type as written: a name in its name space, and stars. */
    record TypeWords(int at, NamedTypes.Space space, String name, int stars) {}
}
