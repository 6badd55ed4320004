package sonde.view;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Unit;

/**
 * Numbers as people read them: three significant digits and a unit that keeps them below 1000.
 * {@code numbers.js} of the page follows the same rules; a page test compares the two.
 */
public final class NumberText {
    private static final String[] TIME = {"ns", "µs", "ms", "s", "min", "h"};
    private static final double[] TIME_STEP = {1000, 1000, 1000, 60, 60};
    private static final String[] BYTES = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

    private NumberText() {}

    /**
     * A value as text.
     *
     * @param value as {@link sonde.event.result.Column} says; null becomes "-"
     * @param unicode whether µ may be written; else u
     */
    public static String text(Unit unit, @Nullable Object value, boolean unicode) {
        if (value == null) {
            return "-";
        }
        if (unit == Unit.TEXT || !(value instanceof Number number)) {
            return TextEscape.line(Objects.toString(value, ""));
        }
        return unit == Unit.SHARE
                ? share(number.doubleValue())
                : text(unit, number.longValue(), unicode);
    }

    /** A whole number as text; a share of 1 is 100 %. */
    public static String text(Unit unit, long value, boolean unicode) {
        return switch (unit) {
            case COUNT -> grouped(value);
            case NANOS -> nanos(value, unicode);
            case BYTES -> scaled(value, BYTES, 1024);
            case SHARE -> share((double) value);
            case TIMESTAMP -> seconds(value);
            case ADDRESS -> "0x" + Long.toHexString(value);
            case ID, TEXT -> Long.toString(value);
        };
    }

    /** A fraction in percent with one decimal. */
    public static String share(double fraction) {
        if (Double.isNaN(fraction) || Double.isInfinite(fraction)) {
            return "-";
        }
        return fixed(fraction * 100, 1) + " %";
    }

    private static String nanos(long value, boolean unicode) {
        String text = time(value);
        return unicode ? text : text.replace('µ', 'u');
    }

    private static String time(long value) {
        double amount = Math.abs((double) value);
        int unit = 0;
        while (unit < TIME_STEP.length && amount >= limit(unit)) {
            amount /= TIME_STEP[unit++];
        }
        return (value < 0 ? "-" : "")
                + (unit == 0 ? whole(amount) : digits(amount))
                + " "
                + TIME[unit];
    }

    /** Where the next unit begins: seconds go to 1000 s, minutes to 1000 min. */
    private static double limit(int unit) {
        return unit == 0 ? 1000 : 999.5;
    }

    private static String scaled(long value, String[] units, double step) {
        double amount = Math.abs((double) value);
        int unit = 0;
        while (unit < units.length - 1 && amount >= limit(unit)) {
            amount /= step;
            unit++;
        }
        return (value < 0 ? "-" : "")
                + (unit == 0 ? whole(amount) : digits(amount))
                + " "
                + units[unit];
    }

    private static String whole(double amount) {
        return grouped((long) amount);
    }

    private static String digits(double amount) {
        return fixed(amount, amount < 9.995 ? 2 : amount < 99.95 ? 1 : 0);
    }

    private static String fixed(double amount, int decimals) {
        long factor = decimals == 2 ? 100 : decimals == 1 ? 10 : 1;
        long rounded = Math.round(Math.abs(amount) * factor);
        String text = grouped(rounded / factor);
        if (decimals > 0) {
            String fraction = Long.toString(rounded % factor);
            text += "." + "0".repeat(decimals - fraction.length()) + fraction;
        }
        return amount < 0 && rounded != 0 ? "-" + text : text;
    }

    private static String grouped(long value) {
        String plain = Long.toString(value);
        int first = value < 0 ? 1 : 0;
        if (plain.length() - first <= 3) {
            return plain;
        }
        StringBuilder out = new StringBuilder(plain);
        for (int at = plain.length() - 3; at > first; at -= 3) {
            out.insert(at, ',');
        }
        return out.toString();
    }

    private static String seconds(long nanos) {
        long micros = Math.floorDiv(nanos, 1000L);
        String sign = micros < 0 ? "-" : "";
        long amount = Math.abs(micros);
        String fraction = Long.toString(1_000_000 + amount % 1_000_000).substring(1);
        return sign + amount / 1_000_000 + "." + fraction + " s";
    }
}
