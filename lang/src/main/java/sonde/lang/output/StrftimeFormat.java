package sonde.lang.output;

import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoField;
import java.time.temporal.IsoFields;
import java.util.Locale;
import java.util.TimeZone;

/**
 * strftime(3) of glibc in the C locale, with its flags {@code _ - 0 ^ #} and widths, and bpftrace's
 * own fractions of the second: {@code %f} (6 digits), {@code %k} (9) and {@code %l} (3).
 */
public final class StrftimeFormat {
    private static final long SECOND = 1_000_000_000;
    private static final int MAX_WIDTH = 1024;

    private final ZonedDateTime time;
    private final StringBuilder out = new StringBuilder();

    private StrftimeFormat(ZonedDateTime time) {
        this.time = time;
    }

    /**
     * A moment as text; what is not a conversion stays as it is.
     *
     * @param epochNanos since 1970, UTC
     */
    public static String format(String strftime, long epochNanos, ZoneId zone) {
        Instant instant =
                Instant.ofEpochSecond(
                        Math.floorDiv(epochNanos, SECOND), Math.floorMod(epochNanos, SECOND));
        StrftimeFormat format = new StrftimeFormat(instant.atZone(zone));
        format.all(strftime);
        return format.out.toString();
    }

    private void all(String format) {
        int at = 0;
        while (at < format.length()) {
            char c = format.charAt(at);
            if (c != '%') {
                out.append(c);
                at++;
                continue;
            }
            int end = at + 1;
            char flag = 0;
            boolean upper = false;
            while (end < format.length() && "_-0^#".indexOf(format.charAt(end)) >= 0) {
                char given = format.charAt(end++);
                upper |= given == '^';
                flag = given == '^' ? flag : given;
            }
            int width = 0;
            while (end < format.length() && Character.digit(format.charAt(end), 10) >= 0) {
                width = Math.min(MAX_WIDTH, 10 * width + format.charAt(end++) - '0');
            }
            if (end < format.length() && "EO".indexOf(format.charAt(end)) >= 0) {
                end++;
            }
            int start = out.length();
            if (end < format.length() && conversion(format.charAt(end), flag, width)) {
                if (upper && format.charAt(end) != 'P') {
                    String text = out.substring(start).toUpperCase(Locale.ROOT);
                    out.replace(start, out.length(), text);
                }
                at = end + 1;
            } else {
                out.append(format, at, Math.min(end + 1, format.length()));
                at = end + 1;
            }
        }
    }

    private boolean conversion(char c, char flag, int width) {
        return number(c, flag, width) || words(c, flag, width);
    }

    private boolean number(char c, char flag, int width) {
        switch (c) {
            case 'C' -> digits(Math.floorDiv(time.getYear(), 100), 2, '0', flag, width);
            case 'd' -> digits(time.getDayOfMonth(), 2, '0', flag, width);
            case 'e' -> digits(time.getDayOfMonth(), 2, ' ', flag, width);
            case 'f' -> digits(time.getNano() / 1_000, 6, '0', flag, width);
            case 'g' -> digits(Math.floorMod(weekYear(), 100), 2, '0', flag, width);
            case 'G' -> digits(weekYear(), 1, '0', flag, width);
            case 'H' -> digits(time.getHour(), 2, '0', flag, width);
            case 'I' -> digits(time.get(ChronoField.CLOCK_HOUR_OF_AMPM), 2, '0', flag, width);
            case 'j' -> digits(time.getDayOfYear(), 3, '0', flag, width);
            case 'k' -> digits(time.getNano(), 9, '0', flag, width);
            case 'l' -> digits(time.getNano() / 1_000_000, 3, '0', flag, width);
            case 'm' -> digits(time.getMonthValue(), 2, '0', flag, width);
            case 'M' -> digits(time.getMinute(), 2, '0', flag, width);
            case 's' -> digits(time.toEpochSecond(), 1, '0', flag, width);
            case 'S' -> digits(time.getSecond(), 2, '0', flag, width);
            case 'u' -> digits(time.getDayOfWeek().getValue(), 1, '0', flag, width);
            case 'U' -> digits(week(sunday()), 2, '0', flag, width);
            case 'V' -> digits(time.get(IsoFields.WEEK_OF_WEEK_BASED_YEAR), 2, '0', flag, width);
            case 'w' -> digits(sunday(), 1, '0', flag, width);
            case 'W' -> digits(week(time.getDayOfWeek().getValue() - 1), 2, '0', flag, width);
            case 'y' -> digits(Math.floorMod(time.getYear(), 100), 2, '0', flag, width);
            case 'Y' -> digits(time.getYear(), 1, '0', flag, width);
            default -> {
                return false;
            }
        }
        return true;
    }

    private boolean words(char c, char flag, int width) {
        String text =
                switch (c) {
                    case 'a' -> day().substring(0, 3);
                    case 'A' -> day();
                    case 'b', 'h' -> month().substring(0, 3);
                    case 'B' -> month();
                    case 'c' -> again("%a %b %e %H:%M:%S %Y");
                    case 'D', 'x' -> again("%m/%d/%y");
                    case 'F' -> again("%Y-%m-%d");
                    case 'n' -> "\n";
                    case 'p' -> time.getHour() < 12 ? "AM" : "PM";
                    case 'P' -> time.getHour() < 12 ? "am" : "pm";
                    case 'r' -> again("%I:%M:%S %p");
                    case 'R' -> again("%H:%M");
                    case 't' -> "\t";
                    case 'T', 'X' -> again("%H:%M:%S");
                    case 'z' -> offset(flag);
                    case 'Z' -> zoneName();
                    case '%' -> "%";
                    default -> "";
                };
        if (text.isEmpty()) {
            return false;
        }
        if (flag == '#' && "aAbBhpZ".indexOf(c) >= 0) {
            boolean lower = c == 'p' || c == 'Z';
            text = lower ? text.toLowerCase(Locale.ROOT) : text.toUpperCase(Locale.ROOT);
        }
        out.repeat(flag == '0' ? '0' : ' ', Math.max(0, width - text.length())).append(text);
        return true;
    }

    private String day() {
        return titled(time.getDayOfWeek().name());
    }

    private String month() {
        return titled(time.getMonth().name());
    }

    private static String titled(String word) {
        return word.charAt(0) + word.substring(1).toLowerCase(Locale.ROOT);
    }

    private String again(String format) {
        StrftimeFormat inner = new StrftimeFormat(time);
        inner.all(format);
        return inner.out.toString();
    }

    private void digits(long value, int least, char padding, char flag, int width) {
        char pad = flag == '_' || flag == '-' ? ' ' : flag == '0' ? '0' : padding;
        int count = flag == '-' ? width : Math.max(least, width);
        String text = Long.toString(Math.abs(value));
        String sign = value < 0 ? "-" : "";
        int missing = Math.max(0, count - text.length() - sign.length());
        out.append(pad == '0' ? sign : "").repeat(pad, missing);
        out.append(pad == '0' ? "" : sign).append(text);
    }

    private int weekYear() {
        return time.get(IsoFields.WEEK_BASED_YEAR);
    }

    /** Days since Sunday. */
    private int sunday() {
        return time.getDayOfWeek().getValue() % 7;
    }

    /** Weeks of the year that began, given the days since this one's first. */
    private int week(int days) {
        return (time.getDayOfYear() - 1 + 7 - days) / 7;
    }

    private String offset(char flag) {
        int minutes = time.getOffset().getTotalSeconds() / 60;
        int size = Math.abs(minutes);
        String digits = Integer.toString(size / 60 * 100 + size % 60);
        int missing = flag == '-' ? 0 : 4 - digits.length();
        return (minutes < 0 ? "-" : "+") + (flag == '_' ? " " : "0").repeat(missing) + digits;
    }

    private String zoneName() {
        boolean summer = time.getZone().getRules().isDaylightSavings(time.toInstant());
        return TimeZone.getTimeZone(time.getZone())
                .getDisplayName(summer, TimeZone.SHORT, Locale.ENGLISH);
    }
}
