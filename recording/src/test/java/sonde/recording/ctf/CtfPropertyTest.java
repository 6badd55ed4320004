package sonde.recording.ctf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import sonde.binary.MalformedInputException;
import sonde.testkit.CtfTrace;
import sonde.testkit.Property;
import sonde.testkit.TsdlText;

/** Whatever happens to the bytes, a trace is refused or read; every field of every row is there. */
class CtfPropertyTest {
    private static final int RUNS = 400;
    private static final String FIELDS =
            """
            uint8_t __n; uint16_t _seq[__n]; string _s; uint8_t _tail[3];
            enum : uint8_t { a, b, c } _t; variant <_t> { uint32_t a; string b; uint8_t c[2]; } _v;
            struct { string x; } _many[2];
            integer { size = 8; align = 8; encoding = UTF8; } _txt[__n];
            """;

    private static Map<String, byte[]> example(RandomGenerator random) {
        boolean big = random.nextBoolean();
        ByteOrder order = big ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        CtfTrace trace =
                TsdlText.trace(order, TsdlText.event(0, "e", FIELDS) + TsdlText.event(1, "f", ""));
        long time = random.nextLong(1L << 40);
        for (int packet = 0; packet < 4; packet++) {
            CtfTrace.Packet one = trace.packet(1).time(time, time + 500).sequence(packet);
            for (int i = random.nextInt(12); i > 0; i--) {
                time += random.nextInt(100);
                if (random.nextBoolean()) {
                    TsdlText.head(one, 1, time);
                } else {
                    event(TsdlText.head(one, 0, time), random);
                }
            }
            trace.append("s", one.padding(random.nextInt(40)));
        }
        return trace.files();
    }

    private static void event(CtfTrace.Packet packet, RandomGenerator random) {
        int count = random.nextInt(5);
        packet.put(count, 8);
        for (int i = 0; i < count; i++) {
            packet.put(random.nextInt(), 16);
        }
        packet.text("x".repeat(random.nextInt(20))).put(1, 8).put(2, 8).put(3, 8);
        int tag = random.nextInt(3);
        packet.put(tag, 8);
        switch (tag) {
            case 0 -> packet.put(random.nextInt(), 32);
            case 1 -> packet.text("b");
            default -> packet.put(1, 8).put(2, 8);
        }
        packet.text("m").text("n");
        for (int i = 0; i < count; i++) {
            packet.put('t', 8);
        }
    }

    /** Rows that were read; -1 when the trace was refused. */
    private static int read(Map<String, byte[]> files) throws IOException {
        try (CtfRecording recording = Read.open(files)) {
            List<String> rows = Read.rows(recording);
            assertThat(Read.lines(recording, true)).hasSize(rows.size());
            assertThat(Read.lines(recording, false)).hasSizeLessThanOrEqualTo(rows.size());
            return rows.size();
        } catch (MalformedInputException e) {
            assertThat(e).hasMessageContaining("ctf");
            return -1;
        }
    }

    @Test
    void cutStreams() {
        Property.forAll(
                1,
                RUNS,
                random -> {
                    Map<String, byte[]> files = example(random);
                    int whole = read(files);
                    byte[] stream = files.get("s");
                    files.put("s", Arrays.copyOf(stream, random.nextInt(stream.length)));
                    // A row that says that something is missing may take the place of one.
                    assertThat(read(files)).isBetween(0, whole + 1);
                });
    }

    @Test
    void flippedStreams() {
        Property.forAll(
                1000,
                RUNS,
                random -> {
                    Map<String, byte[]> files = example(random);
                    flip(files.get("s"), random);
                    assertThat(read(files)).isBetween(0, 8 * files.get("s").length);
                });
    }

    @Test
    void cutMetadata() {
        Property.forAll(
                2000,
                RUNS,
                random -> {
                    Map<String, byte[]> files = example(random);
                    byte[] text = files.get("metadata");
                    files.put("metadata", Arrays.copyOf(text, random.nextInt(text.length)));
                    assertThat(read(files)).isBetween(-1, 8 * files.get("s").length);
                });
    }

    @Test
    void flippedMetadata() {
        Property.forAll(
                3000,
                RUNS,
                random -> {
                    Map<String, byte[]> files = example(random);
                    flip(files.get("metadata"), random);
                    assertThat(read(files)).isBetween(-1, 8 * files.get("s").length);
                });
    }

    @Test
    void swappedFiles() {
        Property.forAll(
                4000,
                20,
                random -> {
                    Map<String, byte[]> files = new LinkedHashMap<>(example(random));
                    byte[] noise = new byte[random.nextInt(5000)];
                    random.nextBytes(noise);
                    files.put("t", noise);
                    assertThat(read(files)).isPositive();
                });
    }

    private static void flip(byte[] bytes, RandomGenerator random) {
        for (int flips = 1 + random.nextInt(6); flips > 0; flips--) {
            bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
        }
    }
}
