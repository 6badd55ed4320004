package sonde.analysis.filter;

import java.util.function.Predicate;

/** What a filter asks of a row. */
sealed interface FilterCondition {
    /** Both hold. */
    record And(FilterCondition left, FilterCondition right) implements FilterCondition {}

    /** One holds. */
    record Or(FilterCondition left, FilterCondition right) implements FilterCondition {}

    /** It does not hold. */
    record Not(FilterCondition operand) implements FilterCondition {}

    /**
     * A field and a value.
     *
     * @param position of the field in the filter's text
     */
    record Compare(String field, Comparison operator, Comparand value, int position)
            implements FilterCondition {}

    /** What stands on the right side. */
    sealed interface Comparand {
        /** An integer, from -2^63 to 2^64-1; the upper half as negative numbers. */
        record NumberComparand(long value) implements Comparand {}

        /**
         * A text, with or without quotes.
         *
         * @param test of {@code ~} and {@code =~}
         */
        record TextComparand(String text, Predicate<String> test) implements Comparand {}
    }

    /** How both are compared. */
    enum Comparison {
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

        Comparison(String spelling) {
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
