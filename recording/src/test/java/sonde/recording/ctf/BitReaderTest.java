package sonde.recording.ctf;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.testkit.CtfBits;
import sonde.testkit.Property;

/** Integers come back from any bit, in either order, also at the end of the memory. */
class BitReaderTest {
    private record Put(long at, long value, int count) {}

    @Test
    void whatWasPutIsRead() {
        Property.forAll(
                1,
                300,
                random -> {
                    boolean bigEndian = random.nextBoolean();
                    CtfBits bits = new CtfBits();
                    List<Put> puts = new ArrayList<>();
                    for (int i = 0; i < 20; i++) {
                        int count = 1 + random.nextInt(64);
                        long value = random.nextLong() >>> (64 - count);
                        puts.add(new Put(bits.size(), value, count));
                        bits.put(value, count, bigEndian);
                    }
                    MemorySegment memory = MemorySegment.ofArray(bits.toBytes());
                    for (Put put : puts) {
                        assertThat(BitReader.read(memory, put.at, put.count, bigEndian))
                                .isEqualTo(put.value);
                    }
                });
    }

    @Test
    void signsAndOrders() {
        assertThat(BitReader.signed(0b11111, 5)).isEqualTo(-1);
        assertThat(BitReader.signed(0b01111, 5)).isEqualTo(15);
        assertThat(BitReader.signed(-7, 64)).isEqualTo(-7);
        assertThat(BitReader.reversed(0b0011, 4)).isEqualTo(0b1100);
    }
}
