package sonde.binary.dwarf.section;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.binary.MalformedInputException;
import sonde.testkit.Bytes;
import sonde.testkit.Property;

final class SectionCursorTest {
    private static SectionCursor cursor(Bytes bytes, boolean big, int window) {
        return new SectionCursor(MemorySegment.ofArray(bytes.toBytes()), big, window);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void numbersMayLieAcrossTheEndOfTheWindow(boolean big) throws MalformedInputException {
        Bytes bytes = new Bytes(big ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < 50; i++) {
            bytes.u8(0xf0 + i % 16).u16(0x8001).u32(0xfedc_ba98L).u64(0x8123_4567_89ab_cdefL);
        }
        SectionCursor cursor = cursor(bytes, big, 16);
        for (int i = 0; i < 50; i++) {
            assertThat(cursor.u8()).isEqualTo(0xf0 + i % 16);
            assertThat(cursor.signed(2)).isEqualTo((short) 0x8001);
            assertThat(cursor.unsigned(4)).isEqualTo(0xfedc_ba98L);
            assertThat(cursor.u64()).isEqualTo(0x8123_4567_89ab_cdefL);
        }
        assertThat(cursor.hasMore()).isFalse();
        assertThatThrownBy(cursor::u8).isInstanceOf(MalformedInputException.class);
    }

    @Test
    void nothingIsReadBehindTheEndThatWasSaid() throws MalformedInputException {
        Bytes bytes = new Bytes(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < 64; i++) {
            bytes.u8(i);
        }
        SectionCursor cursor = cursor(bytes, false, 32);
        assertThat(cursor.u8()).isZero(); // the window is filled beyond the end that follows
        cursor.seek(4, 7);
        assertThat(cursor.u16()).isEqualTo(0x0504);
        assertThatThrownBy(cursor::u16).isInstanceOf(MalformedInputException.class);
        assertThatThrownBy(() -> cursor.seek(8)).isInstanceOf(MalformedInputException.class);
        assertThatThrownBy(() -> cursor.skip(2)).isInstanceOf(MalformedInputException.class);
        assertThat(cursor.u8()).isEqualTo(6);
        assertThat(cursor.hasMore()).isFalse();
        cursor.seek(20, 64);
        assertThat(cursor.u8()).isEqualTo(20);
        cursor.seek(63);
        assertThat(cursor.u8()).isEqualTo(63);
        assertThatThrownBy(() -> cursor.seek(60, 65)).isInstanceOf(MalformedInputException.class);
    }

    @Test
    void anyWalkReadsWhatTheBytesAre() {
        Property.forAll(
                5,
                300,
                random -> {
                    byte[] bytes = new byte[1 + random.nextInt(200)];
                    random.nextBytes(bytes);
                    MemorySegment section = MemorySegment.ofArray(bytes);
                    SectionCursor cursor =
                            new SectionCursor(section, false, 16 + random.nextInt(40));
                    for (int i = 0; i < 50; i++) {
                        int to = random.nextInt(bytes.length + 1);
                        int from = random.nextInt(to + 1);
                        cursor.seek(from, to);
                        for (int at = from; at < to; at++) {
                            assertThat(cursor.u8()).isEqualTo(bytes[at] & 0xff);
                        }
                        assertThat(cursor.position()).isEqualTo(to);
                        assertThat(cursor.hasMore()).isFalse();
                    }
                });
    }
}
