package sonde.recording.ftrace;

import java.nio.charset.StandardCharsets;
import sonde.event.Batch;

/** JSON strings of bytes from anywhere (RFC 8259, section 7); what is no UTF-8 becomes U+FFFD. */
public final class JsonBytes {
    private static final byte[] REPLACEMENT = {(byte) 0xef, (byte) 0xbf, (byte) 0xbd};

    private JsonBytes() {}

    /** Appends a string in quotes. */
    public static void string(TextBuffer out, String text) {
        // A lone surrogate becomes '?'.
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        string(out, utf8, 0, utf8.length);
    }

    /** Appends a text of the payload up to its NUL, in quotes. */
    public static void string(TextBuffer out, Batch batch, int row, int offset, int mostBytes) {
        int length = Math.max(0, Math.min(mostBytes, batch.payloadBytes(row) - offset));
        byte[] bytes = batch.bytes(row, offset, length);
        int end = 0;
        while (end < length && bytes[end] != 0) {
            end++;
        }
        string(out, bytes, 0, end);
    }

    /** Appends bytes in quotes. */
    public static void string(TextBuffer out, byte[] bytes, int from, int to) {
        out.put('"');
        int clean = from;
        int at = from;
        while (at < to) {
            int b = bytes[at];
            int length = b >= 0 ? 1 : sequence(bytes, at, to);
            boolean plain = b < 0 ? length > 0 : b >= ' ' && b != '"' && b != '\\' && b != 0x7f;
            if (!plain) {
                out.put(bytes, clean, at - clean);
                escaped(out, b);
                clean = at + 1;
            }
            at += Math.max(1, length);
        }
        out.put(bytes, clean, to - clean).put('"');
    }

    private static void escaped(TextBuffer out, int b) {
        if (b < 0) {
            out.put(REPLACEMENT);
            return;
        }
        switch (b) {
            case '"', '\\' -> out.put('\\').put((char) b);
            case '\n' -> out.put("\\n");
            case '\t' -> out.put("\\t");
            default -> out.put("\\u00").hex(b, 2);
        }
    }

    /** Length of the UTF-8 sequence at a place, 0 when it is none (Unicode 16, table 3-7). */
    private static int sequence(byte[] bytes, int at, int to) {
        int first = bytes[at] & 0xff;
        int length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
        if (length == 0 || at + length > to) {
            return 0;
        }
        int second = bytes[at + 1] & 0xff;
        int low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
        int high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
        boolean good = second >= low && second <= high;
        for (int i = 2; i < length; i++) {
            good &= (bytes[at + i] & 0xc0) == 0x80;
        }
        return good ? length : 0;
    }
}
