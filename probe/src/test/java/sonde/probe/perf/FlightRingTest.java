package sonde.probe.perf;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import sonde.probe.perf.FlightRing.KeptRecords;
import sonde.recording.perfdata.PerfAbi;

/** A ring as the kernel writes it: from its end to its start, over and over. */
class FlightRingTest {
    private static final int SIZE = 4096;

    private final MemorySegment data = Arena.ofAuto().allocate(SIZE, 8);
    private long head;

    /** A sample: header, identifier, ip, tid, time, and some more. */
    private void write(long id, long time, int sizeBytes) {
        head -= sizeBytes;
        for (int i = 0; i < sizeBytes; i += 8) {
            put(i, 0xee);
        }
        put(0, PerfAbi.PERF_RECORD_SAMPLE | (long) sizeBytes << 48);
        put(8, id);
        put(32, time);
    }

    private void put(long offset, long value) {
        for (int i = 0; i < 8; i++) {
            byte part = (byte) (value >>> 8 * i);
            data.set(
                    java.lang.foreign.ValueLayout.JAVA_BYTE,
                    (head + offset + i) & (SIZE - 1),
                    part);
        }
    }

    private KeptRecords take() {
        return FlightRing.take(data, head, Arena.ofAuto());
    }

    private static List<Long> times(MemorySegment records) {
        List<Long> times = new ArrayList<>();
        long at = 0;
        while (at < records.byteSize()) {
            times.add(records.get(JAVA_LONG_UNALIGNED, at + 32));
            at += records.get(JAVA_LONG_UNALIGNED, at) >>> 48;
        }
        assertThat(at).isEqualTo(records.byteSize());
        return times;
    }

    @Test
    void anEmptyRing() {
        assertThat(take().records().byteSize()).isZero();
        assertThat(take().wrapped()).isFalse();
    }

    @Test
    void everythingWhenNothingWasOverwritten() {
        write(7, 100, 48);
        write(8, 200, 64);
        write(7, 300, 48);
        KeptRecords kept = take();
        assertThat(times(kept.records())).containsExactly(100L, 200L, 300L);
        assertThat(kept.wrapped()).isFalse();
        assertThat(kept.oldestNanos()).isEqualTo(100);
    }

    @Test
    void theNewestThatFitWhole() {
        Random random = new Random(3);
        for (int last = 1; last < 400; last++) {
            write(7, last, 40 + 8 * random.nextInt(20));
            KeptRecords kept = take();
            List<Long> times = times(kept.records());
            for (int i = 0; i < times.size(); i++) {
                assertThat(times.get(i)).isEqualTo(last - times.size() + 1 + i);
            }
            assertThat(kept.oldestNanos()).isEqualTo(times.getFirst());
            if (kept.wrapped()) {
                assertThat(kept.records().byteSize()).isGreaterThan(SIZE - 200);
            } else {
                assertThat(times).hasSize(last);
            }
        }
    }

    @Test
    void whateverLiesThereItEnds() {
        Random random = new Random(5);
        for (int round = 0; round < 2000; round++) {
            byte[] noise = new byte[SIZE];
            random.nextBytes(noise);
            MemorySegment.copy(
                    noise, 0, data, java.lang.foreign.ValueLayout.JAVA_BYTE, 0, noise.length);
            head = -8L * random.nextInt(4 * SIZE);
            assertThat(take().records().byteSize()).isBetween(0L, (long) SIZE);
        }
    }
}
