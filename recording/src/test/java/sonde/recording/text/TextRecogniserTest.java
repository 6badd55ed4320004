package sonde.recording.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.binary.MalformedInputException;
import sonde.testkit.TraceTexts;

class TextRecogniserTest {
    static Stream<Arguments> texts() {
        return TraceTexts.all().entrySet().stream()
                .map(entry -> Arguments.of(entry.getKey(), entry.getValue()));
    }

    private static TextFormat of(String text) {
        return TextFormat.of(Reading.input(text.getBytes(StandardCharsets.UTF_8)));
    }

    @ParameterizedTest
    @MethodSource("texts")
    void everyTextIsOfItsFormatAndNoOther(String text, TextFormat format) {
        assertThat(of(text)).isEqualTo(format);
    }

    @ParameterizedTest
    @MethodSource("texts")
    void aTextIsRecognisedByHalfOfIt(String text, TextFormat format) {
        String noise = "something else\n".repeat(2);
        assertThat(of(text + noise)).isIn(format, null);
        assertThat(of("\n\n" + text)).isEqualTo(format);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "\n",
                "# only a comment\n",
                "hello world\n",
                "apples 3\npears 4\n",
                "a,b,c\n1,2,3\n",
                "{\"traceEvents\": [1]}\n",
                "<html><body>a page</body></html>\n",
                "% time     seconds  usecs/call     calls    errors syscall\n 0.00 0.0 0 1 read\n",
                "PERFILE2\0\0\0\0",
            })
    void otherTextsAreNone(String text) {
        assertThat(of(text)).isNull();
        assertThatThrownBy(() -> Reading.of(text)).isInstanceOf(MalformedInputException.class);
    }

    @ParameterizedTest
    @CsvSource({
        "% time     seconds  usecs/call     calls    errors syscall, strace -c",
        "# To display the perf.data header info, perf report",
    })
    void textsWithoutEventsAreRefusedByName(String head, String tool) {
        byte[] text =
                ("# a comment\n" + head + "\n 0.00 0 0 1 read\n").getBytes(StandardCharsets.UTF_8);
        assertThat(TextFormat.of(Reading.input(text))).isNull();
        assertThat(TextFormat.refusal(Reading.input(text))).contains(tool);
        assertThat(TextFormat.refusal(Reading.input(new byte[] {65, 10}))).isEmpty();
    }

    @Test
    void callsOfStraceAreFewerThanTheirFrames() {
        String frame = " > /usr/lib/ld-linux.so.2(_dl_main+0x26f0) [0x1ab70]\n";
        String call = "6066       0.000767 brk(NULL)           = 0x55c7ba172000\n";
        assertThat(of((call + frame.repeat(12)).repeat(3))).isEqualTo(TextFormat.STRACE);
    }

    @Test
    void aBeginningWithoutLineFeedIsEnough() {
        assertThat(of(TraceTexts.TRACE_NO_HEADER.repeat(2000))).isEqualTo(TextFormat.FTRACE);
        assertThat(of("[    1.000000] " + "x".repeat(100_000))).isEqualTo(TextFormat.DMESG);
    }
}
