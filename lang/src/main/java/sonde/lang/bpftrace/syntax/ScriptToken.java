package sonde.lang.bpftrace.syntax;

/**
 * A word of a script.
 *
 * @param text of a string its bytes (one char each), of all others what stands there
 * @param value of an integer
 */
record ScriptToken(Kind kind, int from, int to, String text, long value) {
    /** What it is. */
    enum Kind {
        WORD,
        INTEGER,
        STRING,
        /** {@code $name}. */
        VARIABLE,
        /** {@code $1}. */
        POSITIONAL,
        /** {@code $#}. */
        POSITIONAL_COUNT,
        /** {@code @name}, {@code @}. */
        MAP,
        SIGN,
        END
    }

    boolean isSign(String sign) {
        return kind == Kind.SIGN && text.equals(sign);
    }

    boolean isWord(String word) {
        return kind == Kind.WORD && text.equals(word);
    }

    /** For messages: {@code '}'}, {@code the end of the script}. */
    String shown() {
        return switch (kind) {
            case END -> "the end of the script";
            case STRING -> "a string";
            default -> "'" + text + "'";
        };
    }
}
