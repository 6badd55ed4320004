package sonde.exchange.heap;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** The lines of a stream, UTF-8; a line of more than 1 MB is cut there. */
final class HeapLines {
    private static final int MOST_BYTES = 1 << 20;

    private final InputStream in;
    private final byte[] buffer = new byte[1 << 16];
    private final byte[] line = new byte[MOST_BYTES];
    private int at;
    private int end;

    HeapLines(InputStream in) {
        this.in = in;
    }

    /** The next line without its end; null behind the last one. */
    @Nullable String next() throws IOException {
        int count = 0;
        boolean any = false;
        while (at < end || fill()) {
            any = true;
            byte one = buffer[at++];
            if (one == '\n') {
                break;
            }
            if (count < MOST_BYTES) {
                line[count++] = one;
            }
        }
        return any ? new String(line, 0, count, StandardCharsets.UTF_8) : null;
    }

    private boolean fill() throws IOException {
        at = 0;
        end = Math.max(0, in.read(buffer));
        return end > 0;
    }
}
