package sonde.view;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.event.result.Unit;

class NumberTextTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "NANOS|0|0 ns",
                "NANOS|999|999 ns",
                "NANOS|1000|1.00 µs",
                "NANOS|9994|9.99 µs",
                "NANOS|9995|10.0 µs",
                "NANOS|99949|99.9 µs",
                "NANOS|99950|100 µs",
                "NANOS|999499|999 µs",
                "NANOS|999500|1.00 ms",
                "NANOS|1230000|1.23 ms",
                "NANOS|-1230000|-1.23 ms",
                "NANOS|999400000000|999 s",
                "NANOS|1000000000000|16.7 min",
                "NANOS|9223372036854775807|2,562,048 h",
                "NANOS|-9223372036854775808|-2,562,048 h",
                "BYTES|512|512 B",
                "BYTES|1024|1.00 KiB",
                "BYTES|1048576|1.00 MiB",
                "BYTES|9223372036854775807|8.00 EiB",
                "COUNT|1234567|1,234,567",
                "COUNT|-123|-123",
                "COUNT|-1234|-1,234",
                "COUNT|-9223372036854775808|-9,223,372,036,854,775,808",
                "ID|1234567|1234567",
                "ADDRESS|-1|0xffffffffffffffff",
                "TIMESTAMP|12345678901234|12345.678901 s",
                "TIMESTAMP|-1|-0.000001 s",
                "SHARE|1|100.0 %",
            })
    void scalesByUnit(Unit unit, long value, String expected) {
        assertThat(NumberText.text(unit, value, true)).isEqualTo(expected);
    }

    @Test
    void sharesHaveOneDecimal() {
        assertThat(NumberText.share(0.1234)).isEqualTo("12.3 %");
        assertThat(NumberText.share(0)).isEqualTo("0.0 %");
        assertThat(NumberText.share(-0.0001)).isEqualTo("0.0 %");
        assertThat(NumberText.share(-0.5)).isEqualTo("-50.0 %");
        assertThat(NumberText.share(Double.NaN)).isEqualTo("-");
    }

    @Test
    void asciiHasNoMicro() {
        assertThat(NumberText.text(Unit.NANOS, 1500L, false)).isEqualTo("1.50 us");
    }
}
