package sonde.analysis.filter;

import java.util.function.Predicate;

/** What a filter asks of a row. */
sealed interface Condition {
    /** Both hold. */
    record And(Condition left, Condition right) implements Condition {}

    /** One holds. */
    record Or(Condition left, Condition right) implements Condition {}

    /** It does not hold. */
    record Not(Condition operand) implements Condition {}

    /**
     * A field and a value.
     *
     * @param position of the field in the filter's text
     */
    record Compare(String field, Operator operator, Value value, int position)
            implements Condition {}

    /** What stands on the right side. */
    sealed interface Value {
        /** An integer, from -2^63 to 2^64-1; the upper half as negative numbers. */
        record Number(long value) implements Value {}

        /**
         * A text, with or without quotes.
         *
         * @param test of {@code ~} and {@code =~}
         */
        record Word(String text, Predicate<String> test) implements Value {}
    }

    /** How both are compared. */
    enum Operator {
        EQUAL("=="),
        NOT_EQUAL("!="),
        LESS("<"),
        AT_MOST("<="),
        GREATER(">"),
        AT_LEAST(">="),
        ANY_BIT("&"),
        GLOB("~"),
        NOT_GLOB("!~"),
        MATCHES("=~");

        final String spelling;

        Operator(String spelling) {
            this.spelling = spelling;
        }

        /** Whether texts are compared by it. */
        boolean isForText() {
            return switch (this) {
                case EQUAL, NOT_EQUAL, GLOB, NOT_GLOB, MATCHES -> true;
                case LESS, AT_MOST, GREATER, AT_LEAST, ANY_BIT -> false;
            };
        }

        /** Whether only texts are. */
        boolean isForTextOnly() {
            return this == GLOB || this == NOT_GLOB || this == MATCHES;
        }
    }
}
