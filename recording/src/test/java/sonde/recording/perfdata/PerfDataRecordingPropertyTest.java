package sonde.recording.perfdata;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.binary.MalformedInputException;
import sonde.testkit.PerfDataBytes;
import sonde.testkit.PerfDataExamples;

/** Whatever happens to the bytes, a file is refused or read; every field of every row is there. */
class PerfDataRecordingPropertyTest {
    private static final int ROUNDS = 150;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void truncatedFiles(long seed) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        byte[] whole = example(random);
        int rows = Rows.of(whole).size();
        for (int i = 0; i < ROUNDS; i++) {
            byte[] cut = Arrays.copyOf(whole, random.nextInt(whole.length));
            assertThat(read(cut)).isLessThanOrEqualTo(rows + 1);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void flippedBits(long seed) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        byte[] whole = example(random);
        for (int i = 0; i < ROUNDS; i++) {
            byte[] bad = whole.clone();
            int flips = 1 + random.nextInt(8);
            for (int flip = 0; flip < flips; flip++) {
                bad[random.nextInt(bad.length)] ^= (byte) (1 << random.nextInt(8));
            }
            assertThat(read(bad)).isLessThanOrEqualTo(bad.length / 8);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void words(long seed) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        byte[] whole = example(random);
        byte[][] words = {{-1, -1, -1, -1}, {-1, -1, -1, 127}, {0, 0, 0, -128}, {0, 0, 0, 0}};
        for (int i = 0; i < ROUNDS; i++) {
            byte[] bad = whole.clone();
            byte[] word = words[random.nextInt(words.length)];
            System.arraycopy(word, 0, bad, random.nextInt(bad.length / 4) * 4, 4);
            assertThat(read(bad)).isLessThanOrEqualTo(bad.length / 8);
        }
    }

    /** Rows read; -1 when the file was refused. */
    private static int read(byte[] file) throws IOException {
        try {
            return Rows.of(file).size();
        } catch (MalformedInputException e) {
            return -1;
        }
    }

    private static byte[] example(SplittableRandom random) {
        ByteOrder order = random.nextBoolean() ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
        PerfDataBytes file = PerfDataExamples.file(order);
        for (int i = 0; i < 40; i++) {
            long time = 1 + random.nextInt(1_000);
            switch (random.nextInt(6)) {
                case 0 -> file.record(9, 1, PerfDataExamples.whole(file, 11, time));
                case 1 -> file.record(9, 1, PerfDataExamples.tracepoint(file, 21, time));
                case 2 ->
                        file.record(
                                3,
                                0,
                                PerfDataExamples.trailer(
                                        file.fields().u32(4).u32(5).text("name", 8),
                                        4,
                                        5,
                                        time,
                                        11));
                case 3 ->
                        file.record(
                                2,
                                0,
                                PerfDataExamples.trailer(file.fields().u64(11, 3), 1, 1, time, 11));
                case 4 -> file.record(68, 0, file.fields());
                default ->
                        file.record(
                                17,
                                0,
                                PerfDataExamples.trailer(
                                        file.fields().u64(1).u32(2).u16(1).u16(0).text("bpf", 8),
                                        1,
                                        1,
                                        time,
                                        12));
            }
        }
        return random.nextBoolean() ? file.file() : file.pipe();
    }
}
