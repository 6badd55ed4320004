package sonde.tools.explain;

import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * When a line was written and which part of the system wrote it, by what stands before the kernel's
 * text.
 *
 * @param epoch seconds since 1970; NaN where the line has no date
 * @param facility of syslog(3), 0 for the kernel; -1 where the line does not say it
 */
record LogStamp(double epoch, int facility) {
    /** syslog(3); dmesg(1) has the same names. */
    static final List<String> FACILITIES =
            List.of(
                    ("kern user mail daemon auth syslog lpr news uucp cron authpriv ftp"
                                    + " 12 13 14 15 local0 local1 local2 local3 local4 local5"
                                    + " local6 local7")
                            .split(" "));

    private static final List<String> MONTHS =
            List.of("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" "));

    private static final int FAR = 80;

    /** {@code <30>}, {@code 30,1235,5140900,-;}, {@code daemon:info :} of dmesg -x. */
    private static final Pattern PRIORITY =
            Pattern.compile(
                    "^(?:<(?<angle>\\d{1,3})>|(?<record>\\d{1,4}),\\d{1,20},\\d{1,20},"
                            + "|(?<name>[a-z]{3,8}[0-7]?) *:[a-z]{3,6} *:)");

    private static final String CLOCK = "(?<time>\\d\\d:\\d\\d:\\d\\d)(?:[.,](?<part>\\d{1,9}))?";

    private static final String BEGIN = "^(?:<\\d{1,3}>)?(?:\\d )?\\[?(?:[A-Z][a-z]{2} )?";

    private static final Pattern ISO =
            Pattern.compile(
                    BEGIN
                            + "(?<date>\\d{4}-\\d\\d-\\d\\d)[T ]"
                            + CLOCK
                            + "(?<zone>Z| UTC|[+-]\\d\\d:?\\d\\d)?");

    /** {@code Nov 4 10:00:01}, {@code Nov 4 2026 10:00:01}, {@code Nov 4 10:00:01 2026}. */
    private static final Pattern NAMED =
            Pattern.compile(
                    BEGIN
                            + "(?<month>[A-Z][a-z]{2}) +(?<day>\\d{1,2})(?: (?<early>\\d{4}))? "
                            + CLOCK
                            + "(?: (?<year>\\d{4}))?");

    /** journalctl -o short-unix. */
    private static final Pattern UNIX = Pattern.compile("^(?<epoch>\\d{9,10}\\.\\d{3,9}) ");

    /** Of a raw line; a date without a zone is of this machine's, one without a year is past. */
    static LogStamp of(String raw, ZonedDateTime now) {
        String text = raw.length() > FAR ? raw.substring(0, FAR) : raw;
        double epoch = epoch(text, now);
        return new LogStamp(epoch == 0 ? Double.NaN : epoch, facility(text));
    }

    private static int facility(String text) {
        Matcher priority = PRIORITY.matcher(text);
        if (!priority.lookingAt()) {
            return -1;
        }
        if (priority.group("name") != null) {
            return FACILITIES.indexOf(priority.group("name"));
        }
        String number = priority.group("angle");
        return Integer.parseInt(number == null ? priority.group("record") : number) >> 3;
    }

    private static double epoch(String text, ZonedDateTime now) {
        Matcher iso = ISO.matcher(text);
        Matcher named = NAMED.matcher(text);
        Matcher unix = UNIX.matcher(text);
        try {
            if (iso.lookingAt()) {
                LocalDate day = LocalDate.parse(iso.group("date"));
                return epoch(iso, day, zone(iso.group("zone"), now.getZone()));
            }
            int month = named.lookingAt() ? MONTHS.indexOf(named.group("month")) : -1;
            if (month >= 0) {
                String early = named.group("early");
                String year = early == null ? named.group("year") : early;
                int known = year == null ? now.getYear() : Integer.parseInt(year);
                LocalDate day =
                        LocalDate.of(known, month + 1, Integer.parseInt(named.group("day")));
                boolean isNext = year == null && day.isAfter(now.toLocalDate().plusDays(1));
                return epoch(named, isNext ? day.minusYears(1) : day, now.getZone());
            }
        } catch (DateTimeException e) {
            return Double.NaN; // month 13, hour 25
        }
        return unix.lookingAt() ? Double.parseDouble(unix.group("epoch")) : Double.NaN;
    }

    private static double epoch(Matcher found, LocalDate day, ZoneId zone) {
        LocalTime time = LocalTime.parse(found.group("time"));
        long seconds = LocalDateTime.of(day, time).atZone(zone).toEpochSecond();
        String part = found.group("part");
        return seconds + (part == null ? 0 : Double.parseDouble("0." + part));
    }

    private static ZoneId zone(String zone, ZoneId own) {
        if (zone == null) {
            return own;
        }
        return zone.equals("Z") || zone.equals(" UTC") ? ZoneOffset.UTC : ZoneOffset.of(zone);
    }

    /** The number of a facility's name; -1 for none. */
    static int facilityOf(String name) {
        return FACILITIES.indexOf(name.toLowerCase(Locale.ROOT));
    }
}
