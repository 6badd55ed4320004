package sonde.lang.output;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import sonde.recording.ftrace.TextBuffer;

/**
 * Text of a script. A sink for a terminal shows control characters of values as {@code \xNN}; a raw
 * one leaves them.
 */
public final class TextSink extends TextBuffer {
    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] UPPER = "0123456789ABCDEF".getBytes(StandardCharsets.US_ASCII);

    private final boolean escaping;
    private boolean isOfRows;

    private TextSink(boolean escaping) {
        super(256);
        this.escaping = escaping;
    }

    /** For people: control characters of values but newline and tab come out harmless. */
    public static TextSink forTerminal() {
        return new TextSink(true);
    }

    /** For rows of a table: no value ends a line, or begins a column. */
    public static TextSink forRows() {
        TextSink sink = new TextSink(true);
        sink.isOfRows = true;
        return sink;
    }

    /** For programs: every byte as it is. */
    public static TextSink raw() {
        return new TextSink(false);
    }

    /** Forgets what was written. */
    public void clear() {
        truncate(0);
    }

    /** One byte. */
    public void put(int value) {
        if (size == bytes.length) {
            room(1);
        }
        bytes[size++] = (byte) value;
    }

    /** Words of the program's own, unchanged; those in ASCII without garbage. */
    @Override
    public TextSink put(String text) {
        int length = text.length();
        room(length);
        int start = size;
        for (int i = 0; i < length; i++) {
            char c = text.charAt(i);
            if (c >= 0x80) {
                size = start;
                super.put(text);
                return this;
            }
            bytes[size++] = (byte) c;
        }
        return this;
    }

    /**
     * The bytes of a text that stands in a script, which the syntax tree holds as one char (0 to
     * 255) for each byte; other characters as UTF-8.
     */
    static byte[] scriptBytes(String text) {
        boolean isBytes = text.chars().allMatch(c -> c <= 0xff);
        return text.getBytes(isBytes ? StandardCharsets.ISO_8859_1 : StandardCharsets.UTF_8);
    }

    /** Pushes what lies at an offset to the right and fills the gap. */
    void insert(int at, int value, int count) {
        room(count);
        System.arraycopy(bytes, at, bytes, at + count, size - at);
        Arrays.fill(bytes, at, at + count, (byte) value);
        size += count;
    }

    /** Puts another byte where one was written. */
    void set(int at, int value) {
        bytes[at] = (byte) value;
    }

    /** A character of elsewhere. */
    void foreign(int value) {
        int b = (byte) value;
        if (escaping && b >= 0 && !isHarmless(b)) {
            escape(b);
        } else {
            put(b);
        }
    }

    /** A text of elsewhere. */
    public void foreign(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < ' ' || c >= 0x7f) {
                byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
                foreign(encoded, 0, encoded.length);
                return;
            }
        }
        put(text);
    }

    /** Bytes of a text of elsewhere. */
    public void foreign(byte[] text, int from, int to) {
        room(Math.max(0, to - from));
        for (int i = from; i < to; i++) {
            int b = text[i];
            if (!escaping || isHarmless(b)) {
                put(b);
            } else if (b >= 0) {
                escape(b);
            } else if (b == (byte) 0xc2 && i + 1 < to && text[i + 1] < (byte) 0xa0) {
                // U+0080 to U+009F: control characters too, CSI among them.
                escape(b);
                escape(text[++i]);
            } else {
                put(b);
            }
        }
    }

    private boolean isHarmless(int b) {
        return b >= ' ' && b != 0x7f || !isOfRows && (b == '\n' || b == '\t');
    }

    /** Lines of elsewhere that stay lines. */
    void foreignLines(byte[] text) {
        int from = 0;
        for (int i = 0; i < text.length; i++) {
            if (text[i] == '\n') {
                foreign(text, from, i);
                put('\n');
                from = i + 1;
            }
        }
        foreign(text, from, text.length);
    }

    private void escape(int value) {
        put('\\');
        if (value == '\n' || value == '\t') {
            put(value == '\n' ? 'n' : 't');
            return;
        }
        put('x');
        hexByte(value);
    }

    /** Two digits. */
    void hexByte(int value) {
        put(HEX[value >> 4 & 15]);
        put(HEX[value & 15]);
    }

    /** Hexadecimal digits. */
    public void hex(long value, boolean upper) {
        if (upper) {
            power(value, 4, UPPER);
        } else {
            hex(value, 1);
        }
    }

    /** Octal digits. */
    public void octal(long value) {
        power(value, 3, HEX);
    }

    private void power(long value, int bits, byte[] alphabet) {
        int used = 64 - Long.numberOfLeadingZeros(value | 1);
        int shift = (used - 1) / bits * bits;
        room(22);
        for (; shift >= 0; shift -= bits) {
            bytes[size++] = alphabet[(int) (value >>> shift) & (1 << bits) - 1];
        }
    }

    /**
     * Bytes as digits.
     *
     * @param printable those from space to tilde as they are
     * @param escaped with {@code \x} before each, else with spaces between
     */
    void buffer(byte[] from, int at, int count, boolean printable, boolean escaped) {
        room(count);
        for (int i = at; i < at + count; i++) {
            int b = from[i];
            if (printable && b >= ' ' && b <= '~') {
                put(b);
            } else if (escaped) {
                escape(b);
            } else {
                hexByte(b);
                if (i + 1 < at + count) {
                    put(' ');
                }
            }
        }
    }

    /** A string of JSON in quotes; bytes that are not UTF-8 become the text {@code \xNN}. */
    void json(byte[] text, int from, int to) {
        room(to - from + 2);
        put('"');
        for (int i = from; i < to; ) {
            int b = text[i];
            if (b >= ' ' && b != '"' && b != '\\') {
                put(b);
                i++;
            } else if (b >= 0) {
                jsonEscape(b);
                i++;
            } else {
                int length = sequence(text, i, to);
                if (length == 0) {
                    put('\\');
                    escape(b);
                    i++;
                }
                for (; length > 0; length--) {
                    put(text[i++]);
                }
            }
        }
        put('"');
    }

    /** As {@link #json(byte[], int, int)} for all that another holds. */
    void json(TextSink text) {
        json(text.bytes, 0, text.size);
    }

    /** As {@link #json(byte[], int, int)}. */
    void json(String text) {
        byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
        json(encoded, 0, encoded.length);
    }

    private void jsonEscape(int b) {
        put('\\');
        switch (b) {
            case '"', '\\' -> put(b);
            case '\n' -> put('n');
            case '\r' -> put('r');
            case '\t' -> put('t');
            default -> {
                put("u00");
                hexByte(b);
            }
        }
    }

    /** Bytes of the UTF-8 sequence that begins there (RFC 3629, section 4), 0 for none. */
    private static int sequence(byte[] text, int at, int to) {
        int first = text[at] & 0xff;
        int length = first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : 4;
        if (first < 0xc2 || first > 0xf4 || at + length > to) {
            return 0;
        }
        for (int i = 1; i < length; i++) {
            if ((text[at + i] & 0xc0) != 0x80) {
                return 0;
            }
        }
        int second = text[at + 1] & 0xff;
        boolean wrong =
                first == 0xe0 && second < 0xa0
                        || first == 0xed && second >= 0xa0
                        || first == 0xf0 && second < 0x90
                        || first == 0xf4 && second >= 0x90;
        return wrong ? 0 : length;
    }

    /** Cuts what was written from an offset on: the parentheses of a key, its spaces. */
    void stripParentheses(int from) {
        if (size - from >= 2 && bytes[from] == '(' && bytes[size - 1] == ')') {
            System.arraycopy(bytes, from + 1, bytes, from, size - from - 2);
            size -= 2;
        }
    }
}
