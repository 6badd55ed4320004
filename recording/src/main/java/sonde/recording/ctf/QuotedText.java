package sonde.recording.ctf;

import java.nio.charset.StandardCharsets;
import sonde.event.Batch;
import sonde.recording.ftrace.TextBuffer;

/** Texts in quotes, with the escapes of babeltrace2. */
final class QuotedText {
    private static final boolean[] ESCAPED = new boolean[256];

    static {
        for (int i = 0; i < 0x20; i++) {
            ESCAPED[i] = true;
        }
        for (char c : "\\'\"?\u007f".toCharArray()) {
            ESCAPED[c] = true;
        }
    }

    private QuotedText() {}

    static void append(TextBuffer out, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        append(out, bytes);
    }

    static void append(TextBuffer out, byte[] bytes) {
        out.put('"');
        escaped(out, bytes);
        out.put('"');
    }

    /** Appends a text of a payload, up to its NUL. */
    static void append(TextBuffer out, Batch batch, int row, int offset, int length) {
        out.put('"');
        int start = out.size();
        int end = out.rawUntil(batch, row, offset, length, ESCAPED);
        if (end < out.size() && out.at(end) == 0) {
            out.truncate(end);
        } else if (end < out.size()) {
            byte[] bytes = out.since(start);
            out.truncate(start);
            escaped(out, bytes);
        }
        out.put('"');
    }

    private static void escaped(TextBuffer out, byte[] bytes) {
        for (byte b : bytes) {
            if (b == 0) {
                break;
            }
            if (!ESCAPED[b & 0xff]) {
                out.put((char) (b & 0xff));
                continue;
            }
            out.put('\\');
            switch (b) {
                case '\\', '\'', '"', '?' -> out.put((char) b);
                case 7 -> out.put('a');
                case '\b' -> out.put('b');
                case 0x1b -> out.put('e');
                case '\f' -> out.put('f');
                case '\n' -> out.put('n');
                case '\r' -> out.put('r');
                case '\t' -> out.put('t');
                case 0x0b -> out.put('v');
                default -> out.put('x').hex(b, 2);
            }
        }
    }
}
