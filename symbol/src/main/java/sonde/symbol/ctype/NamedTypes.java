package sonde.symbol.ctype;

import java.util.Optional;

/** Finds types by the words of C. */
public interface NamedTypes {
    /** Which name space of C a name is in. */
    enum NameSpace {
        STRUCT,
        UNION,
        ENUM,
        /** Typedefs and basic types: names that stand without a word before them in C. */
        PLAIN,
        /** All of them: C++ names its classes without a word before them too. */
        ANY,
    }

    /** A type that is defined; empty for none of that name. */
    Optional<SourceType> find(NameSpace space, String name);
}
