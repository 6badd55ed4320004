package sonde.tools.script;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Units of the times that a tool measures. Its script is written for microseconds: {@code @us} and
 * {@code @us_of} are its maps, {@code $ns / 1us} are its times, {@code (us)} stands in its
 * headings.
 */
enum TimeUnits {
    NANOSECONDS("ns"),
    MICROSECONDS("us"),
    MILLISECONDS("ms");

    private final String unit;

    TimeUnits(String unit) {
        this.unit = unit;
    }

    /** The option that asks for it, without dashes. */
    String option() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** That of an option; empty for another. */
    static Optional<TimeUnits> of(String option) {
        return List.of(values()).stream().filter(one -> one.option().equals(option)).findFirst();
    }

    /** A script, or a heading of it, in this unit. */
    String put(String text) {
        return text.replaceAll("(@|/ 1|\\()us(?![A-Za-z])", "$1" + unit);
    }
}
