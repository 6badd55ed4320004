package sonde.tools.explain;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZonedDateTime;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.tools.option.OptionException;

/**
 * A moment as {@code journalctl --since} and {@code dmesg --since} take it.
 *
 * @param seconds since 1970, or since the boot
 * @param isBoot whether it counts from the boot
 */
record LogMoment(double seconds, boolean isBoot) {
    private static final String FORMS =
            "a date and time (2026-11-24 10:00), a time (10:00), now, today, yesterday, a time"
                    + " before now (-2h, '10 min ago'), @SECONDS since 1970, or seconds since the"
                    + " boot as the log has them (12.5s)";

    private static final Pattern BOOT = Pattern.compile("(\\d{1,10}(?:\\.\\d{1,9})?)s?");

    private static final Pattern DATE =
            Pattern.compile(
                    "(?:(?<day>\\d{4}-\\d\\d-\\d\\d)(?:[T ]|$))?"
                            + "(?<time>\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d{1,9})?)?)?");

    private static final Pattern SPAN =
            Pattern.compile("(?<count>\\d{1,9}) ?(?<unit>[a-z]{1,7})\\s*");

    private static final Map<Character, Duration> UNITS =
            Map.of(
                    's', Duration.ofSeconds(1),
                    'm', Duration.ofMinutes(1),
                    'h', Duration.ofHours(1),
                    'd', Duration.ofDays(1),
                    'w', Duration.ofDays(7));

    /**
     * Reads it.
     *
     * @throws OptionException when it is none
     */
    static LogMoment parse(String option, String text, ZonedDateTime now) {
        String plain = text.strip();
        ZonedDateTime today = now.toLocalDate().atStartOfDay(now.getZone());
        switch (plain) {
            case "now" -> {
                return of(now);
            }
            case "today" -> {
                return of(today);
            }
            case "yesterday" -> {
                return of(today.minusDays(1));
            }
            default -> {}
        }
        Matcher boot = BOOT.matcher(plain);
        if (boot.matches()) {
            return new LogMoment(Double.parseDouble(boot.group(1)), true);
        }
        if (plain.matches("@\\d{1,11}(?:\\.\\d{1,9})?")) {
            return new LogMoment(Double.parseDouble(plain.substring(1)), false);
        }
        Matcher date = DATE.matcher(plain);
        try {
            if (!plain.isEmpty() && date.matches()) {
                String day = date.group("day");
                String time = date.group("time");
                return of(
                        LocalDateTime.of(
                                        day == null ? now.toLocalDate() : LocalDate.parse(day),
                                        time == null ? LocalTime.MIN : LocalTime.parse(time))
                                .atZone(now.getZone()));
            }
        } catch (DateTimeException e) {
            throw new OptionException(option + " takes " + FORMS + "; there is no " + text);
        }
        boolean isAgo = plain.endsWith(" ago");
        if (isAgo || plain.startsWith("-")) {
            String span = isAgo ? plain.substring(0, plain.length() - 4) : plain.substring(1);
            Duration back = span(span.strip());
            if (back != null) {
                return of(now.minus(back));
            }
        }
        throw new OptionException(option + " takes " + FORMS + ", not '" + text + "'");
    }

    private static LogMoment of(ZonedDateTime time) {
        return new LogMoment(time.toEpochSecond() + time.getNano() / 1e9, false);
    }

    /** {@code 1h30min}, {@code 10 minutes}; null for another text. */
    private static @org.jspecify.annotations.Nullable Duration span(String text) {
        Matcher part = SPAN.matcher(text);
        Duration sum = Duration.ZERO;
        int at = 0;
        while (part.find() && part.start() == at) {
            String unit = part.group("unit");
            Duration one = unit.startsWith("mo") ? null : UNITS.get(unit.charAt(0));
            if (one == null) {
                return null;
            }
            sum = sum.plus(one.multipliedBy(Long.parseLong(part.group("count"))));
            at = part.end();
        }
        return at == text.length() && at > 0 ? sum : null;
    }
}
