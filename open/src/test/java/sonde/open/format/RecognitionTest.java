package sonde.open.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.binary.Input;
import sonde.testkit.Property;
import sonde.testkit.TraceDatBytes;

/** Every file is recognised by its own reader and by no other. */
class RecognitionTest {
    @TestFactory
    List<DynamicTest> everyFormatByEveryRecogniser() {
        List<DynamicTest> tests = new ArrayList<>();
        Samples.all()
                .forEach((name, bytes) -> {
                    String format = name.split(" ")[0].toUpperCase(Locale.ROOT);
                    tests.add(
                            DynamicTest.dynamicTest(
                                    name,
                                    () ->
                                            assertThat(matching(bytes))
                                                    .containsExactly(TraceFormat.valueOf(format))));
                });
        return tests;
    }

    private static List<TraceFormat> matching(byte[] bytes) {
        Input input = RecordedRows.input(bytes);
        return Arrays.stream(TraceFormat.values()).filter(one -> one.matches(input)).toList();
    }

    @Test
    void filesWithoutSampleAreRecognised() {
        byte[] traceDat = new TraceDatBytes(ByteOrder.LITTLE_ENDIAN, 8).version7(false);
        assertThat(matching(traceDat)).containsExactly(TraceFormat.TRACEDAT);
        assertThat(matching(new byte[0])).isEmpty();
        assertThat(matching(new byte[1000])).isEmpty();
        assertThat(matching(Samples.text("{\"a\": 1}"))).isEmpty();
        assertThat(matching(Samples.text("[1, 2]"))).isEmpty();
        assertThat(matching(Samples.text("main;leaf 10\nmain 3\n")))
                .containsExactly(TraceFormat.TEXT);
    }

    @Test
    void randomBytesAreNone() {
        Property.forAll(
                1,
                300,
                random -> {
                    byte[] bytes = new byte[random.nextInt(2000)];
                    random.nextBytes(bytes);
                    assertThat(matching(bytes)).isEmpty();
                });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "==12== Memcheck, a memory error detector\n==12== Copyright\n|Memcheck",
                "{\"dhatFileVersion\":2,\"mode\":\"heap\",\"pps\":[]}|DHAT",
                "====\n==7==ERROR: AddressSanitizer: heap-use-after-free on 0x1\n|AddressSanitizer",
                "{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"a\"}}]}|V8",
                "v8-version,11,3,244,8,0\nshared-library,/bin/node,0x1,0x2,0\n|--prof-process",
                "{\"meta\":{\"version\":19},\"libs\":[],\"threads\":[]}|Gecko",
            })
    void filesOfOtherToolsAreRefusedByName(String example) {
        int bar = example.lastIndexOf('|');
        Input input =
                RecordedRows.input(example.substring(0, bar).getBytes(StandardCharsets.UTF_8));
        assertThatThrownBy(() -> TraceFormat.read(input))
                .hasMessageStartingWith("text: kind: is ")
                .hasMessageContaining(example.substring(bar + 1));
    }

    @Test
    void flightRecordingsOfJava8AreRefused() {
        byte[] old = new byte[80];
        System.arraycopy(new byte[] {'F', 'L', 'R', 0, 0, 0, 0, 9}, 0, old, 0, 8);
        assertThatThrownBy(() -> TraceFormat.read(RecordedRows.input(old)))
                .hasMessageContaining("version 0.9");
    }
}
