package sonde.recording.tracedat;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import sonde.event.Lane;
import sonde.recording.ftrace.AddressNames;
import sonde.recording.ftrace.EventJson;
import sonde.recording.ftrace.EventListing;
import sonde.recording.ftrace.EventListing.Filter;
import sonde.recording.ftrace.EventListing.ListedLane;
import sonde.recording.ftrace.ThreadNames;
import sonde.testkit.RingPage;
import sonde.testkit.TraceDatBytes;

class EventJsonTest {
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    private static byte[] recording(byte[] name) {
        TraceDatBytes file = new TraceDatBytes(ORDER, 8);
        byte[] event = file.hello(7, -1, "");
        System.arraycopy(name, 0, event, 12, Math.min(8, name.length));
        byte[] page =
                new RingPage(ORDER, 8, TraceDatBytes.PAGE, 1_000_000)
                        .lost(12)
                        .event(5, event)
                        .toBytes();
        return file.cpu(page).cpu().version6();
    }

    private static String json(byte[] recording, Map<Integer, String> comms) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (TraceDatRecording opened = TraceDatRecordingTest.open(recording)) {
            ThreadNames names = ThreadNames.of(comms);
            List<ListedLane> parts = new ArrayList<>();
            for (Lane lane : opened.lanes()) {
                EventJson text =
                        new EventJson(
                                lane.source(), opened.textContext(), names, AddressNames.NONE);
                parts.add(new ListedLane(lane, text, ""));
            }
            new EventListing(parts, Filter.ALL).writeTo(out);
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    /** Leaves of an object, with the names of the objects they are in. */
    private static Map<String, Object> parsed(String line) throws IOException {
        Map<String, Object> leaves = new LinkedHashMap<>();
        try (JsonParser in = new JsonFactory().createParser(line)) {
            String path = "";
            assertThat(in.nextToken()).isEqualTo(JsonToken.START_OBJECT);
            int depth = 1;
            while (depth > 0) {
                switch (in.nextToken()) {
                    case START_OBJECT -> {
                        path = in.currentName() + ".";
                        depth++;
                    }
                    case END_OBJECT -> {
                        path = "";
                        depth--;
                    }
                    case VALUE_NUMBER_INT -> leaves.put(path + in.currentName(), in.getLongValue());
                    case VALUE_STRING -> leaves.put(path + in.currentName(), in.getText());
                    case VALUE_NULL -> leaves.put(path + in.currentName(), "null");
                    default -> {}
                }
            }
            assertThat(in.nextToken()).isNull();
        }
        return leaves;
    }

    @Test
    void aLineIsAnObjectWithTypedValues() throws IOException {
        String text = json(recording("one".getBytes(StandardCharsets.UTF_8)), Map.of(7, "sh"));
        assertThat(text)
                .isEqualTo(
                        """
                        {"time":1000000,"cpu":0,"tid":null,"comm":null,"event":"notice:lost",\
                        "fields":{"count":12}}
                        {"time":1000005,"cpu":0,"tid":7,"comm":"sh","event":"test:hello",\
                        "fields":{"number":4294967295,"name":"one"}}
                        """);
    }

    static Stream<Arguments> hostileNames() {
        return Stream.of(
                Arguments.of("225c0a091b7f0041", "\"\\\n\t\u001b\u007f"),
                Arguments.of("c3a9e282ac000000", "\u00e9\u20ac"),
                Arguments.of("f09f9880ffc08041", "\ud83d\ude00\ufffd\ufffd\ufffdA"),
                // A surrogate and what lies beyond U+10FFFF.
                Arguments.of("eda080f490808061", "\ufffd".repeat(7) + "a"));
    }

    @ParameterizedTest
    @MethodSource("hostileNames")
    void namesAreEscaped(String bytes, String name) throws IOException {
        byte[] raw = HexFormat.of().parseHex(bytes);
        List<String> lines = json(recording(raw), Map.of()).lines().toList();
        assertThat(lines).hasSize(2);
        assertThat(lines.get(1)).doesNotContain("\u001b", "\u007f");
        assertThat(parsed(lines.get(1)).get("fields.name")).isEqualTo(name);
    }

    @Test
    void anyNameGivesOneWellFormedLine() throws IOException {
        Random random = new Random(4);
        for (int i = 0; i < 300; i++) {
            byte[] name = new byte[8];
            random.nextBytes(name);
            String comm = new String(name, StandardCharsets.ISO_8859_1);
            List<String> lines = json(recording(name), Map.of(7, comm)).lines().toList();
            assertThat(lines).hasSize(2);
            assertThat(parsed(lines.get(1)))
                    .containsEntry("tid", 7L)
                    .containsEntry("comm", comm)
                    .containsEntry("fields.number", 4294967295L);
        }
    }
}
