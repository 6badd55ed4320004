package sonde.recording;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The lines of a text, UTF-8; a line of more than 1 MB is cut there. */
public final class TextLines {
    private static final int MOST_BYTES = 1 << 20;

    private final MemorySegment text;
    private byte[] line = new byte[256];
    private long at;

    /** Before the first line. */
    public TextLines(MemorySegment text) {
        this.text = text;
    }

    /** The next line without its end; null behind the last one. */
    public @Nullable String next() {
        long size = text.byteSize();
        if (at >= size) {
            return null;
        }
        int count = 0;
        while (at < size) {
            byte b = text.get(ValueLayout.JAVA_BYTE, at++);
            if (b == '\n') {
                break;
            }
            if (count == line.length && count < MOST_BYTES) {
                line = Arrays.copyOf(line, Math.min(2 * count, MOST_BYTES));
            }
            if (count < line.length) {
                line[count++] = b;
            }
        }
        if (count > 0 && line[count - 1] == '\r') {
            count--;
        }
        return new String(line, 0, count, StandardCharsets.UTF_8);
    }
}
