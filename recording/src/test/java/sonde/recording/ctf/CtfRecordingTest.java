package sonde.recording.ctf;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.binary.MalformedInputException;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.testkit.Bytes;
import sonde.testkit.CtfTrace;
import sonde.testkit.TsdlText;

class CtfRecordingTest {
    private static final String ORIGIN = "box:app:(7) ";
    private static final String CONTEXT =
            "{ cpu_id = 3 }, { vpid = 7, vtid = 8, procname = \"worker\" }, ";

    private static ByteOrder order(boolean bigEndian) {
        return bigEndian ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
    }

    private static CtfTrace.Packet event(CtfTrace trace, long time) {
        CtfTrace.Packet packet = trace.packet(1).time(time, time + 1000).cpu(3);
        return TsdlText.head(packet, 0, time);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void everyKindOfField(boolean bigEndian) throws IOException {
        String fields =
                """
                integer { size = 3; align = 1; signed = true; } _small;
                integer { size = 13; align = 1; base = 16; } _odd;
                integer { size = 16; align = 8; signed = true; base = 8; } _octal;
                integer { size = 4; align = 4; base = 2; } _binary;
                floating_point { exp_dig = 8; mant_dig = 24; align = 8; } _single;
                floating_point { exp_dig = 11; mant_dig = 53; align = 8; } _real;
                string _text;
                uint8_t __len_length;
                uint16_t _seq[__len_length];
                struct { uint8_t x; string s; } _pair;
                struct { uint8_t y; } _many[2];
                enum : uint8_t { A, B = 5, "C D" = 6 ... 8, E = 7 } _letter;
                """;
        CtfTrace trace = TsdlText.trace(order(bigEndian), TsdlText.event(0, "p:all", fields));
        CtfTrace.Packet packet = event(trace, 42);
        packet.bits(-2 & 7, 3).bits(0xabc, 13).put(-8 & 0xffff, 16).bits(5, 4);
        packet.put(Float.floatToRawIntBits(1.5f), 32).put(Double.doubleToRawLongBits(1e9), 64);
        packet.text("it's \"a\"\n").put(2, 8).put(1, 16).put(65535, 16);
        packet.put(9, 8).text("s").put(1, 8).put(2, 8).put(7, 8);
        trace.append("stream_0", packet);

        assertThat(Read.text(trace.files()))
                .containsExactly(
                        "[00:01:40.000000047] (+?.?????????) "
                                + ORIGIN
                                + "p:all: "
                                + CONTEXT
                                + "{ small = -2, odd = 0xABC, octal = 0777770, binary = 0b0101,"
                                + " single = 1.5, real = 1e+09, text = \"it\\'s \\\"a\\\"\\n\","
                                + " _len_length = 2, seq = [ [0] = 1, [1] = 65535 ],"
                                + " pair = { x = 9, s = \"s\" },"
                                + " many = [ [0] = { y = 1 }, [1] = { y = 2 } ],"
                                + " letter = ( { \"C D\", \"E\" } : container = 7 ) }");
        assertThat(Read.json(trace.files()))
                .containsExactly(
                        "{\"time\":100000000047,\"cpu\":3,\"tid\":8,\"comm\":\"worker\","
                                + "\"event\":\"p:all\",\"fields\":{\"small\":-2,\"odd\":2748,"
                                + "\"octal\":-8,\"binary\":5,\"single\":1.5,\"real\":1.0E9,"
                                + "\"text\":\"it's \\\"a\\\"\\n\",\"_len_length\":2,"
                                + "\"seq\":[1,65535],\"pair.x\":9,\"pair.s\":\"s\","
                                + "\"many\":[{\"y\":1},{\"y\":2}],\"letter\":7,"
                                + "\"letter.label\":\"C D|E\",\"context.vpid\":7,"
                                + "\"context.vtid\":8,\"context.procname\":\"worker\","
                                + "\"packet.cpu_id\":3}}");
        try (CtfRecording recording = Read.open(trace.files())) {
            assertThat(recording.sources().get(0).clock()).isEqualTo(Clock.REALTIME);
            assertThat(Read.rows(recording))
                    .containsExactly(
                            "100000000047 cpu3 tid8 p:all packet.cpu_id=3 context.vpid=7"
                                    + " context.vtid=8 context.procname=\"worker\" small=-2"
                                    + " odd=2748 octal=-8 binary=5 single=1.5 real=1.0E9"
                                    + " text=\"it's \"a\"\n\" _len_length=2 seq=2 elements"
                                    + " pair.x=9 pair.s=\"s\" many=\"[{\"y\":1},{\"y\":2}]\""
                                    + " letter=7");
        }
    }

    /** First of few threads, whose text is kept, then each event of another one. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void firstFieldsThatRepeatAndThoseThatDoNot(boolean bigEndian) throws IOException {
        CtfTrace trace = TsdlText.trace(order(bigEndian), TsdlText.event(0, "p:n", "int _n;"));
        List<String> expected = new ArrayList<>();
        int number = 0;
        for (int cpu = 0; cpu < 3; cpu++) {
            CtfTrace.Packet packet =
                    trace.packet(8000).time(1000L * cpu, 1000L * cpu + 999).cpu(cpu);
            for (int i = 0; i < 8000; i++, number++) {
                int pid = i < 300 ? 7 + i % 3 : -number;
                int tid = i < 300 ? 70 + i % 5 : 1 << i % 31;
                packet.bits().align(8);
                packet.bits(0, 5).bits(1000L * cpu & 0x7ffffff, 27);
                packet.put(pid, 32).put(tid, 32);
                packet.bits().raw("w".repeat(3).concat("\0".repeat(14)).getBytes(UTF_8));
                packet.put(number, 32);
                expected.add(
                        "p:n: { cpu_id = %d }, { vpid = %d, vtid = %d, procname = \"www\" }, { n = %d }"
                                .formatted(cpu, pid, tid, number));
            }
            trace.append("stream_0", packet);
        }
        List<String> lines = Read.text(trace.files());
        assertThat(lines).hasSameSizeAs(expected);
        for (int i = 0; i < lines.size(); i++) {
            assertThat(lines.get(i)).endsWith(expected.get(i));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void integersWiderThanALongAreText(boolean bigEndian) throws IOException {
        String fields =
                """
                integer { size = 128; align = 8; signed = true; } _minus;
                integer { size = 96; align = 8; base = 16; } _hex;
                integer { size = 72; align = 8; } _many[2];
                """;
        CtfTrace trace = TsdlText.trace(order(bigEndian), TsdlText.event(0, "wide", fields));
        CtfTrace.Packet packet = event(trace, 42);
        long[] words = bigEndian ? new long[] {-1, -5} : new long[] {-5, -1};
        packet.put(words[0], 64).put(words[1], 64);
        long[] hex = bigEndian ? new long[] {0xab, 1, 2} : new long[] {2, 1, 0xab};
        packet.put(hex[0], 32).put(hex[1], 32).put(hex[2], 32);
        for (int i = 1; i <= 2; i++) {
            if (bigEndian) {
                packet.put(i, 8).put(0, 64);
            } else {
                packet.put(0, 64).put(i, 8);
            }
        }
        trace.append("stream_0", packet);
        assertThat(Read.text(trace.files()).getFirst())
                .endsWith(
                        "{ minus = -5, hex = 0xAB0000000100000002,"
                                + " many = [ [0] = 18446744073709551616,"
                                + " [1] = 36893488147419103232 ] }");
        assertThat(Read.json(trace.files()).getFirst())
                .contains("\"minus\":\"-5\"")
                .contains("\"many\":[\"18446744073709551616\",\"36893488147419103232\"]");
    }

    @Test
    void variantsAndLengthsFromOtherScopes() throws IOException {
        String fields =
                """
                enum : uint8_t { one, _two } _tag;
                variant <_tag> { uint8_t one; struct { string s; } _two; } _v;
                uint8_t _by_cpu[stream.packet.context.cpu_id];
                string _names[event.fields._tag];
                """;
        CtfTrace trace = TsdlText.trace(ByteOrder.LITTLE_ENDIAN, TsdlText.event(0, "v", fields));
        CtfTrace.Packet packet = event(trace, 1).put(0, 8).put(77, 8);
        packet.put(1, 8).put(2, 8).put(3, 8);
        TsdlText.head(packet, 0, 2).put(1, 8).text("in").put(4, 8).put(5, 8).put(6, 8).text("n");
        trace.append("s", packet);

        assertThat(Read.text(trace.files()))
                .hasSize(2)
                .satisfiesExactly(
                        first ->
                                assertThat(first)
                                        .endsWith(
                                                "{ tag = ( \"one\" : container = 0 ), v = { 77 },"
                                                        + " by_cpu = [ [0] = 1, [1] = 2, [2] = 3 ],"
                                                        + " names = [ ] }"),
                        second ->
                                assertThat(second)
                                        .contains("(+0.000000001)")
                                        .endsWith(
                                                "{ tag = ( \"_two\" : container = 1 ),"
                                                        + " v = { { s = \"in\" } },"
                                                        + " by_cpu = [ [0] = 4, [1] = 5, [2] = 6 ],"
                                                        + " names = [ [0] = \"n\" ] }"));
        assertThat(Read.json(trace.files()).get(1))
                .contains("\"tag\":1,\"tag.label\":\"_two\",\"v._two.s\":\"in\",")
                .contains("\"names\":[\"n\"]")
                .doesNotContain("v.one");
    }

    @Test
    void shortTimesAreExtended() throws IOException {
        CtfTrace trace = TsdlText.trace(ByteOrder.LITTLE_ENDIAN, TsdlText.event(0, "e", ""));
        long wrap = 1L << 27;
        CtfTrace.Packet packet = trace.packet(1).time(3 * wrap - 2, 5 * wrap).cpu(0);
        TsdlText.head(packet, 0, wrap - 1);
        TsdlText.head(packet, 0, 5);
        TsdlText.head(packet, 0, 4);
        packet.bits().align(8);
        packet.bits(31, 5).put(0, 32).put(9 * wrap, 64); // the extended header
        packet.put(7, 32).put(8, 32).bits().raw(new byte[17]);
        trace.append("s", packet);
        try (CtfRecording recording = Read.open(trace.files())) {
            long origin = 100_000_000_005L;
            assertThat(Read.rows(recording).stream().map(row -> row.split(" ")[0]))
                    .containsExactly(
                            "" + (origin + 3 * wrap - 1),
                            "" + (origin + 3 * wrap + 5),
                            "" + (origin + 4 * wrap + 4),
                            "" + (origin + 9 * wrap));
        }
    }

    @Test
    void lossesAreRows() throws IOException {
        CtfTrace trace = TsdlText.trace(ByteOrder.LITTLE_ENDIAN, TsdlText.event(0, "e", ""));
        trace.append("s", TsdlText.head(trace.packet(1).time(10, 20).discarded(3), 0, 10));
        trace.append(
                "s",
                TsdlText.head(trace.packet(1).time(30, 40).discarded(3).sequence(1), 0, 30)
                        .padding(50));
        trace.append(
                "s", TsdlText.head(trace.packet(1).time(50, 60).discarded(8).sequence(4), 0, 55));
        try (CtfRecording recording = Read.open(trace.files())) {
            assertThat(Read.rows(recording).stream().map(row -> row.replaceAll(" packet.*", "")))
                    .containsExactly(
                            "100000000015 cpu0 tid8 ust:e",
                            "100000000025 cpu0 tid-1 notice:lost events=3",
                            "100000000035 cpu0 tid8 ust:e",
                            "100000000055 cpu0 tid-1 notice:lost events=0",
                            "100000000060 cpu0 tid8 ust:e",
                            "100000000065 cpu0 tid-1 notice:lost events=5");
            assertThat(recording.notes())
                    .containsExactly(
                            "s: the tracer discarded 8 events.", "s: 2 packets are missing.");
            assertThat(Read.lines(recording, true).get(3))
                    .endsWith("\"event\":\"notice:lost\",\"fields\":{\"count\":0,\"packets\":2}}");
            assertThat(Read.lines(recording, false)).hasSize(3);
        }
    }

    @Test
    void filesOfOneStreamAreOneLane() throws IOException {
        CtfTrace trace = TsdlText.trace(ByteOrder.LITTLE_ENDIAN, TsdlText.event(0, "e", ""));
        trace.append("c_1", TsdlText.head(trace.packet(5).time(10, 20), 0, 10));
        trace.append("c_0", TsdlText.head(trace.packet(5).time(30, 40), 0, 30));
        trace.append("d_0", TsdlText.head(trace.packet(6).time(15, 16), 0, 15));
        try (CtfRecording recording = Read.open(trace.files())) {
            assertThat(recording.lanes()).hasSize(2);
            assertThat(Read.rows(recording).stream().map(row -> row.split(" ")[0]))
                    .containsExactly("100000000015", "100000000035", "100000000020");
        }
    }

    @Test
    void metadataInPackets() throws IOException {
        for (boolean bigEndian : new boolean[] {false, true}) {
            CtfTrace trace = new CtfTrace(order(bigEndian));
            trace.packetizedMetadata(TsdlText.with(TsdlText.event(0, "e", "uint32_t a;")));
            trace.append("s", event(trace, 1).put(0x01020304, 32));
            assertThat(Read.text(trace.files()).get(0)).endsWith("{ a = 16909060 }");
        }
    }

    @Test
    void aDamagedPacketCostsItself() throws IOException {
        CtfTrace trace =
                TsdlText.trace(ByteOrder.LITTLE_ENDIAN, TsdlText.event(0, "e", "string s;"));
        trace.append("s", event(trace, 10).text("first"));
        int second = trace.files().get("s").length;
        trace.append("s", event(trace, 20).text("second"));
        int third = trace.files().get("s").length;
        trace.append("s", event(trace, 30).text("third"));
        byte[] file = trace.files().get("s");
        file[second] ^= 1; // the magic
        try (CtfRecording recording = Read.open(trace.files())) {
            assertThat(Read.rows(recording))
                    .satisfiesExactly(
                            row -> assertThat(row).endsWith("s=\"first\""),
                            row -> assertThat(row).contains("notice:corrupt"),
                            row -> assertThat(row).endsWith("s=\"third\""));
            assertThat(recording.notes())
                    .containsExactly(
                            "s: packet at byte "
                                    + second
                                    + ": not the magic number of a packet; it is left out.");
        }
        file[second] ^= 1;
        file[third - 1] = 'x'; // the NUL of the second text
        try (CtfRecording recording = Read.open(trace.files())) {
            assertThat(Read.rows(recording)).hasSize(3).element(1).asString().contains("corrupt");
            assertThat(recording.notes().get(0)).contains("a text without its NUL");
        }
    }

    @Test
    void aFileThatEndsEarlyIsReadSoFar() throws IOException {
        CtfTrace trace =
                TsdlText.trace(ByteOrder.LITTLE_ENDIAN, TsdlText.event(0, "e", "uint8_t a;"));
        trace.append("s", TsdlText.head(event(trace, 10).put(1, 8), 0, 11).put(2, 8));
        byte[] whole = trace.files().get("s");
        trace.file("s", Arrays.copyOf(whole, whole.length - 3));
        try (CtfRecording recording = Read.open(trace.files())) {
            assertThat(Read.rows(recording)).hasSize(2);
            assertThat(recording.notes().get(0)).contains("the file ends before the packet");
        }
    }

    @Test
    void anIndexFindsTheNextPacket() throws IOException {
        CtfTrace trace =
                TsdlText.trace(ByteOrder.LITTLE_ENDIAN, TsdlText.event(0, "e", "uint8_t a;"));
        trace.append("s", event(trace, 10).put(1, 8));
        int length = trace.files().get("s").length;
        trace.append("s", event(trace, 20).put(2, 8));
        Bytes index = new Bytes(ByteOrder.BIG_ENDIAN);
        index.u32(0xc1f1dcc1L).u32(1).u32(0).u32(56);
        for (int i = 0; i < 2; i++) {
            index.u64((long) i * length).u64(8L * length).u64(8L * length);
            index.u64(0).u64(0).u64(0).u64(0);
        }
        trace.file("index/s.idx", index.toBytes());
        // packet_size of the first packet: without an index what follows would be lost.
        Arrays.fill(trace.files().get("s"), 56, 64, (byte) 0);
        try (CtfRecording recording = Read.open(trace.files())) {
            assertThat(Read.rows(recording)).hasSize(2).last().asString().endsWith("a=2");
        }
        trace.file("index/s.idx", new byte[40]);
        try (CtfRecording recording = Read.open(trace.files())) {
            assertThat(recording.notes().get(0)).contains("index/s.idx is not used");
        }
    }

    @Test
    void aTreeOfTraces() throws IOException {
        Map<String, byte[]> files = new LinkedHashMap<>();
        for (String folder : List.of("kernel/", "ust/uid/0/64-bit/")) {
            CtfTrace trace = TsdlText.trace(ByteOrder.LITTLE_ENDIAN, TsdlText.event(0, "e", ""));
            trace.append("s", event(trace, folder.length()));
            trace.file(".hidden", new byte[9]).file("empty", new byte[0]);
            trace.files().forEach((name, bytes) -> files.put(folder + name, bytes));
        }
        files.put("other/metadata", "/* CTF 1.8 */ trace {".getBytes(StandardCharsets.UTF_8));
        try (CtfRecording recording = Read.open(files)) {
            assertThat(recording.sources().stream().map(source -> source.name()))
                    .containsExactly("kernel", "ust/uid/0/64-bit");
            assertThat(Read.lines(recording, false))
                    .hasSize(2)
                    .allMatch(line -> line.endsWith("e: " + CONTEXT + "{ }"));
            assertThat(recording.notes()).hasSize(1);
            assertThat(recording.notes().get(0)).startsWith("other/metadata cannot be read");
        }
    }

    @Test
    void noMetadataIsRefused() {
        assertThatThrownBy(() -> Read.open(Map.of("stream", new byte[8])))
                .isInstanceOf(MalformedInputException.class)
                .hasMessageContaining("no such file");
    }

    @Test
    void anUnknownEventEndsItsPacket() throws IOException {
        CtfTrace trace =
                TsdlText.trace(ByteOrder.LITTLE_ENDIAN, TsdlText.event(0, "e", "uint8_t a;"));
        trace.append("s", TsdlText.head(event(trace, 10).put(1, 8), 9, 11).put(2, 8));
        trace.append("s", event(trace, 20).put(3, 8));
        try (CtfRecording recording = Read.open(trace.files())) {
            assertThat(Read.rows(recording)).hasSize(3).element(1).asString().contains("corrupt");
            assertThat(recording.notes().get(0)).contains("an event of the unknown class 9");
        }
    }

    @Test
    void typesAreSplitAtTheColon() throws IOException {
        CtfTrace trace =
                TsdlText.trace(
                        ByteOrder.LITTLE_ENDIAN,
                        TsdlText.event(0, "a:b:c", "") + TsdlText.event(1, "plain", ""));
        try (CtfRecording recording = Read.open(trace.files())) {
            assertThat(recording.sources().get(0).types().stream().map(EventType::qualifiedName))
                    .containsExactly("a:b:c", "ust:plain", "notice:lost", "notice:corrupt");
            assertThat(recording.sources().get(0).type("a", "b:c")).isPresent();
            assertThat(recording.environment(recording.sources().get(0))).containsEntry("vpid", 7L);
        }
    }
}
