package sonde.recording.perfdata;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.binary.MalformedInputException;
import sonde.recording.perfdata.Rows.Row;
import sonde.testkit.PerfStatBytes;

/** Counts of perf stat record. */
class PerfStatTest {
    static Stream<ByteOrder> orders() {
        return Stream.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN);
    }

    private static List<Row> counters(PerfDataRecording recording) throws IOException {
        return Rows.of(recording).stream()
                .filter(row -> row.type().equals("counter:value"))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("orders")
    void countsHaveTheTimeOfTheirRound(ByteOrder order) throws IOException {
        PerfStatBytes stat = new PerfStatBytes(order).config(0).threads(700, 701);
        stat.stat(22, 1, 1, 8, 100, 100).stat(11, -1, 0, 2_500_000, 100, 50).round(5_000);
        try (PerfDataRecording recording = Rows.open(stat.file().file())) {
            List<Row> rows = counters(recording);
            // by event, as perf shows them; the clock ran half of the time
            assertThat(rows)
                    .extracting(row -> row.field("name"))
                    .containsExactly("task-clock", "context-switches");
            assertThat(rows).extracting(Row::time).containsOnly(5_000L);
            assertThat(rows).extracting(Row::tid).containsExactly(700, 701);
            assertThat(rows).extracting(Row::cpu).containsExactly(-1, 1);
            assertThat(rows.get(0).fields())
                    .containsExactly(
                            "track=11",
                            "value=5.0",
                            "name=task-clock",
                            "unit=msec",
                            "count=2500000",
                            "enabled=100",
                            "running=50");
            assertThat(rows.get(1).field("value")).isEqualTo("8.0");
            assertThat(recording.notes()).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("orders")
    void intervalsTellWhatTheyAdded(ByteOrder order) throws IOException {
        PerfStatBytes stat = new PerfStatBytes(order).config(100).threads(-1);
        stat.stat(21, 0, 0, 5, 10, 10).stat(22, 1, 0, 7, 10, 10).round(100);
        stat.stat(21, 0, 0, 9, 20, 20).stat(22, 1, 0, 7, 20, 20).round(200);
        stat.stat(21, 0, 0, 11, 21, 21); // read when it was stopped: perf shows it nowhere
        try (PerfDataRecording recording = Rows.open(stat.file().file())) {
            List<Row> rows = counters(recording);
            assertThat(rows)
                    .extracting(row -> row.field("count"))
                    .containsExactly("5", "7", "4", "0");
            assertThat(rows).extracting(row -> row.field("enabled")).containsOnly("10");
            assertThat(Rows.of(recording)).filteredOn("type", "perf_record:stat").hasSize(1);
            assertThat(recording.notes()).containsExactly("no counts of task-clock");
        }
    }

    @ParameterizedTest
    @MethodSource("orders")
    void whatNeverRanIsNoNumber(ByteOrder order) throws IOException {
        PerfStatBytes stat = new PerfStatBytes(order).stat(11, 0, 0, 0, 0, 0);
        try (PerfDataRecording recording = Rows.open(stat.file().file())) {
            Row row = counters(recording).getFirst(); // cut before its round
            assertThat(row.field("value")).isEqualTo("NaN");
            assertThat(row.tid()).isEqualTo(-1); // a map of threads is missing
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void damagedCounts(long seed) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        PerfStatBytes stat = new PerfStatBytes(orders().toList().get((int) seed % 2));
        stat.config(1).threads(5, 6);
        for (int i = 0; i < 30; i++) {
            stat.stat(11 + random.nextInt(2) * 10, i % 3 - 1, i % 2, i, i, i);
            if (random.nextInt(4) == 0) {
                stat.round(i * 1_000L);
            }
        }
        byte[] whole = stat.file().file();
        for (int i = 0; i < 150; i++) {
            byte[] bad =
                    Arrays.copyOf(whole, whole.length - random.nextInt(2) * random.nextInt(900));
            for (int flip = random.nextInt(8); flip >= 0; flip--) {
                bad[random.nextInt(bad.length)] ^= (byte) (1 << random.nextInt(8));
            }
            try {
                assertThat(Rows.of(bad).size()).isLessThanOrEqualTo(bad.length / 8);
            } catch (MalformedInputException e) {
                assertThat(e).hasMessageContaining("perf.data");
            }
        }
    }
}
