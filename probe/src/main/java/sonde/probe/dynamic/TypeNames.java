package sonde.probe.dynamic;

import java.util.Optional;

/** Finds types by the words of C. */
interface TypeNames {
    /** Which name space of C a name is in. */
    enum Space {
        STRUCT,
        UNION,
        ENUM,
        PLAIN,
    }

    /** A type that is defined. */
    Optional<SourceType> find(Space space, String name);
}
