package sonde.recording.ctf;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.recording.ftrace.TextBuffer;

class RealNumbersTest {
    // What printf("%g") of glibc writes.
    @ParameterizedTest
    @CsvSource({
        "0.0, 0",
        "-0.0, -0",
        "2222, 2222",
        "3.1415, 3.1415",
        "100000, 100000",
        "1000000, 1e+06",
        "123456789, 1.23457e+08",
        "0.0001, 0.0001",
        "0.00001234, 1.234e-05",
        "-1.5e300, -1.5e+300",
        "4.9E-324, 4.94066e-324",
        "999999.5, 1e+06",
        "0.1, 0.1",
        "Infinity, inf",
        "-Infinity, -inf",
        "NaN, nan",
    })
    void asPrintf(double value, String text) {
        TextBuffer out = new TextBuffer(32);
        RealNumbers.append(out, value);
        assertThat(out.toString()).isEqualTo(text);
    }

    @Test
    void quadruplesBecomeDoubles() {
        assertThat(RealNumbers.quadruple(0x3fff_0000_0000_0000L, 0)).isEqualTo(1.0);
        assertThat(RealNumbers.quadruple(0xc000_8000_0000_0000L, 0)).isEqualTo(-3.0);
        assertThat(RealNumbers.quadruple(0x7fff_0000_0000_0000L, 0)).isInfinite();
        assertThat(RealNumbers.quadruple(0x7fff_8000_0000_0000L, 0)).isNaN();
        assertThat(RealNumbers.quadruple(0, 1)).isZero();
    }
}
