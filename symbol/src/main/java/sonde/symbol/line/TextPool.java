package sonde.symbol.line;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;

/** Texts of the tables, each once; any thread may add. */
final class TextPool {
    private static final int MOST_BYTES = 1 << 30;

    private final ConcurrentHashMap<String, Integer> offsets = new ConcurrentHashMap<>();
    private byte[] bytes = new byte[1 << 16];

    /** The empty text is the first. */
    private int count = 1;

    /** Offset of a text; 0 of the empty one and of those that there is no room for. */
    int add(String text) {
        if (text.isEmpty()) {
            return 0;
        }
        Integer known = offsets.get(text);
        return known == null ? offsets.computeIfAbsent(text, this::append) : known;
    }

    private synchronized int append(String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        if (count > MOST_BYTES - utf8.length) {
            return 0;
        }
        if (count + utf8.length + 1 > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, count + utf8.length + 1));
        }
        System.arraycopy(utf8, 0, bytes, count, utf8.length);
        int offset = count;
        count += utf8.length + 1;
        return offset;
    }

    /** All texts, each ended by NUL. */
    synchronized byte[] bytes() {
        return Arrays.copyOf(bytes, count);
    }
}
