package sonde.lang.declare;

import sonde.lang.source.SourceSpan;

/**
 * A word of C.
 *
 * @param text as it stands; of strings and characters with their quotes
 * @param first whether it is the first of its line
 * @param spaced whether white space stands before it
 * @param origin where it stands in the script or a header of its own, or what in the script brought
 *     it along
 * @param header whether a header has it
 */
record CToken(
        Kind kind, String text, boolean first, boolean spaced, SourceSpan origin, boolean header) {
    enum Kind {
        WORD,
        NUMBER,
        STRING,
        CHARACTER,
        SIGN,
        /** Behind the last one. */
        END,
        /** In the expansion of a macro: here its name may be expanded again. */
        MACRO_END,
    }

    boolean is(String other) {
        return (kind == Kind.SIGN || kind == Kind.WORD) && text.equals(other);
    }

    /** The same in another place. */
    CToken at(CToken place) {
        return new CToken(kind, text, false, spaced, place.origin, place.header);
    }

    CToken as(Kind other, String otherText) {
        return new CToken(other, otherText, first, spaced, origin, header);
    }

    /** As messages call it. */
    String shown() {
        return kind == Kind.END ? "the end" : "'" + text + "'";
    }
}
