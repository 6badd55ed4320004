package sonde.tools.option;

import java.math.BigDecimal;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An option that is a time. The script takes nanoseconds; a person writes {@code 10ms}.
 *
 * @param unit of a number without one: {@code us}, {@code ms}, {@code s}
 * @param whole whether it counts seconds: no fractions, not 0
 */
public record TimeOption(String unit, boolean whole) {
    /** A bare number is seconds. */
    public static final TimeOption SECONDS = new TimeOption("s", false);

    private static final Pattern FORM =
            Pattern.compile("([0-9]{1,9}(?:\\.[0-9]{1,9})?)(ns|us|ms|s|m|h)?");
    private static final long SECOND = 1_000_000_000L;
    private static final BigDecimal LONGEST = BigDecimal.valueOf(366 * 24 * 3600 * SECOND);

    /**
     * The time that a word of the command line is, in nanoseconds.
     *
     * @param option with its dashes, for the message
     */
    public long nanos(String option, String word) {
        Matcher form = FORM.matcher(word);
        if (!form.matches()) {
            String examples = whole ? "5s or 1m" : "500us, 10ms or 2s";
            throw new OptionException(
                    option + ": '" + word + "' is not a time; write " + examples + meaning());
        }
        String given = form.group(2) == null ? unit : form.group(2);
        BigDecimal nanos = new BigDecimal(form.group(1)).multiply(BigDecimal.valueOf(nanos(given)));
        if (nanos.compareTo(LONGEST) > 0) {
            throw new OptionException(option + " " + word + ": that is longer than a year");
        }
        long value = nanos.longValue();
        if (whole && (value == 0 || value % SECOND != 0)) {
            throw new OptionException(
                    option + " " + word + ": it counts whole seconds, 1s and more");
        }
        return value;
    }

    private static long nanos(String unit) {
        return switch (unit) {
            case "ns" -> 1;
            case "us" -> 1_000;
            case "ms" -> 1_000_000;
            case "s" -> SECOND;
            case "m" -> 60 * SECOND;
            default -> 3600 * SECOND;
        };
    }

    private String meaning() {
        return " (a bare number is " + name(unit) + ")";
    }

    private static String name(String unit) {
        return switch (unit) {
            case "us" -> "microseconds";
            case "ms" -> "milliseconds";
            default -> "seconds";
        };
    }

    /** A time in the largest unit that shows it whole: {@code 10ms}; {@code 0}. */
    public static String text(long nanos) {
        if (nanos == 0) {
            return "0";
        }
        for (String unit : new String[] {"h", "m", "s", "ms", "us"}) {
            if (nanos % nanos(unit) == 0) {
                return nanos / nanos(unit) + unit;
            }
        }
        return nanos + "ns";
    }
}
