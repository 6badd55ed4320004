package sonde.recording.ftrace;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class TextBufferTest {
    @Test
    void plainIsPrintableAsciiTabsAndLineFeeds() {
        for (int length : new int[] {1, 7, 8, 31, 32, 33, 63, 71}) {
            byte[] text = new byte[length];
            for (int value = 0; value < 256; value++) {
                for (int at = 0; at < length; at++) {
                    Arrays.fill(text, (byte) (value % 3 == 0 ? '\n' : 'x'));
                    text[at] = (byte) value;
                    TextBuffer out = new TextBuffer(8).put(text);
                    boolean plain = value >= 0x20 && value < 0x7f || value == '\n' || value == '\t';
                    assertThat(out.isPlain())
                            .as("byte 0x%02x at %d of %d", value, at, length)
                            .isEqualTo(plain);
                }
            }
        }
        assertThat(new TextBuffer(8).isPlain()).isTrue();
    }

    /** What is known to be plain is not looked at; whatever may not be is. */
    @Test
    void everyWayInTellsWhetherItMayBeForeign() {
        TextBuffer out =
                new TextBuffer(8).put(PackedText.of("ok")).put('x').decimal(-7).hex(255, 4);
        assertThat(out.isPlain()).isTrue();
        assertThat(new TextBuffer(8).put(PackedText.of("\u00e9")).isPlain()).isFalse();
        assertThat(new TextBuffer(8).put('\33').isPlain()).isFalse();
        assertThat(new TextBuffer(8).put("\33").isPlain()).isFalse();
        assertThat(new TextBuffer(8).fill('\0', 3).isPlain()).isFalse();
        TextBuffer inner = new TextBuffer(8).put('\33');
        assertThat(new TextBuffer(8).put(inner, 0, 1).isPlain()).isFalse();
        assertThat(new TextBuffer(8).put("plain").isPlain()).isTrue();
    }

    @Test
    void numbersAreThoseOfPrintf() {
        for (long value = 1; value > 0 && value < Long.MAX_VALUE / 11; value = value * 10 + 7) {
            for (long near : new long[] {value - 1, value, -value}) {
                for (int least : new int[] {1, 2, 9}) {
                    if (near >= 0) {
                        assertThat(new TextBuffer(8).digits(near, least))
                                .hasToString(String.format("%0" + least + "d", near));
                    }
                }
                if (near >= 0 && near < 1_000_000_000) {
                    assertThat(new TextBuffer(8).nineDigits((int) near))
                            .hasToString(String.format("%09d", near));
                    assertThat(new TextBuffer(8).sixDigits((int) near % 1_000_000))
                            .hasToString(String.format("%06d", near % 1_000_000));
                }
                assertThat(new TextBuffer(8).decimal(near)).hasToString(Long.toString(near));
                assertThat(new TextBuffer(8).hex(near, 1)).hasToString(Long.toHexString(near));
            }
        }
    }
}
