package sonde.lang.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.ZoneId;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Expectations are those of date(1) for the same second. */
final class StrftimeFormatTest {
    /** Sunday, 3 January 2021, 04:05:06.123456789 UTC. */
    private static final long NANOS = 1_609_646_706_123_456_789L;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            ignoreLeadingAndTrailingWhitespace = false,
            value = {
                "%Y-%m-%d %H:%M:%S|2021-01-03 04:05:06",
                "%F %T %D %R|2021-01-03 04:05:06 01/03/21 04:05",
                "%a %A %b %B %h|Sun Sunday Jan January Jan",
                "%c|Sun Jan  3 04:05:06 2021",
                "%x %X %r|01/03/21 04:05:06 04:05:06 AM",
                "%e| 3",
                "%C %y %G %g %V %U %W %j|20 21 2020 20 53 01 00 003",
                "%u %w %s %I %p %P|7 0 1609646706 04 AM am",
                "%f %k %l|123456 123456789 123",
                "%z %Z|+0000 UTC",
                "%-d %_d %5d %^a %#p %010Y|3  3 00003 SUN am 0000002021",
                "%Ey %Od %%|21 03 %",
                "%q %|%q %",
            })
    void conversions(String format, String expected) {
        assertThat(utc(format)).isEqualTo(expected);
    }

    private static String utc(String format) {
        return StrftimeFormat.format(format, NANOS, ZoneOffset.UTC);
    }

    @Test
    void otherZonesAndTimes() {
        assertThat(StrftimeFormat.format("%H:%M %z %Z", NANOS, ZoneId.of("Europe/Berlin")))
                .isEqualTo("05:05 +0100 CET");
        assertThat(StrftimeFormat.format("%I%p%n%t", NANOS + 43_200_000_000_000L, ZoneOffset.UTC))
                .isEqualTo("04PM\n\t");
        assertThat(StrftimeFormat.format("%s.%f", -1, ZoneOffset.UTC)).isEqualTo("-1.999999");
        assertThat(StrftimeFormat.format("%s.%f", 1_000_123_000L, ZoneOffset.UTC))
                .isEqualTo("1.000123");
        assertThat(StrftimeFormat.format("%z", 0, ZoneOffset.ofHoursMinutes(-3, -30)))
                .isEqualTo("-0330");
    }
}
