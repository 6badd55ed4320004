package sonde.format.ftrace;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import sonde.event.Batch;

/** A growing buffer of text in bytes. */
public final class TextBuffer {
    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    private byte[] bytes;
    private int size;

    /** Empty, with room for that many bytes. */
    public TextBuffer(int expectedBytes) {
        bytes = new byte[Math.max(expectedBytes, 64)];
    }

    /** Bytes in it. */
    public int size() {
        return size;
    }

    /** Drops what stands behind the first {@code newSize} bytes. */
    public void truncate(int newSize) {
        size = newSize;
    }

    /** Writes everything and empties the buffer. */
    public void drainTo(OutputStream out) throws IOException {
        out.write(bytes, 0, size);
        size = 0;
    }

    /** The byte at an index. */
    public byte at(int index) {
        return bytes[index];
    }

    /** One byte. */
    public TextBuffer put(char ascii) {
        room(1);
        bytes[size++] = (byte) ascii;
        return this;
    }

    /** Bytes as they are. */
    public TextBuffer put(byte[] text) {
        room(text.length);
        System.arraycopy(text, 0, bytes, size, text.length);
        size += text.length;
        return this;
    }

    /** A text in UTF-8. */
    public TextBuffer put(String text) {
        return put(text.getBytes(StandardCharsets.UTF_8));
    }

    /** {@code count} blanks; none when negative. */
    public TextBuffer blanks(int count) {
        return fill(' ', count);
    }

    /** {@code count} times the same byte; none when negative. */
    public TextBuffer fill(char ascii, int count) {
        if (count > 0) {
            room(count);
            Arrays.fill(bytes, size, size + count, (byte) ascii);
            size += count;
        }
        return this;
    }

    /** A signed decimal number. */
    public TextBuffer decimal(long value) {
        if (value >= 0) {
            return digits(value, 1);
        }
        put('-');
        return value == Long.MIN_VALUE ? put("9223372036854775808") : digits(-value, 1);
    }

    /** An unsigned decimal number. */
    public TextBuffer unsigned(long value) {
        return value >= 0 ? digits(value, 1) : put(Long.toUnsignedString(value));
    }

    /** A non-negative number with leading zeros up to {@code least} digits. */
    public TextBuffer digits(long value, int least) {
        int count = 1;
        for (long rest = value; rest >= 10; rest /= 10) {
            count++;
        }
        count = Math.max(count, least);
        room(count);
        long rest = value;
        if (rest <= Integer.MAX_VALUE) {
            int small = (int) rest;
            for (int i = size + count - 1; i >= size; i--) {
                int tenth = small / 10;
                bytes[i] = (byte) ('0' + small - tenth * 10);
                small = tenth;
            }
        } else {
            for (int i = size + count - 1; i >= size; i--) {
                long tenth = rest / 10;
                bytes[i] = (byte) ('0' + rest - tenth * 10);
                rest = tenth;
            }
        }
        size += count;
        return this;
    }

    /** An unsigned hexadecimal number in lower case, at least {@code least} digits. */
    public TextBuffer hex(long value, int least) {
        int count = Math.max(least, (67 - Long.numberOfLeadingZeros(value)) >>> 2);
        count = Math.max(count, 1);
        room(count);
        long rest = value;
        for (int i = size + count - 1; i >= size; i--) {
            bytes[i] = HEX[(int) rest & 15];
            rest >>>= 4;
        }
        size += count;
        return this;
    }

    /**
     * A text of the payload up to its NUL. Control characters other than tab and line feed stand as
     * {@code \xNN}: the text comes from a traced process and goes to a terminal.
     */
    public TextBuffer text(Batch batch, int row, int offset, int mostBytes) {
        int length = Math.min(mostBytes, batch.payloadBytes(row) - offset);
        if (length <= 0) {
            return this;
        }
        room(length);
        batch.copy(row, offset, length, bytes, size);
        int end = size + length;
        for (int i = size; i < end; i++) {
            int b = bytes[i];
            if (b == 0) {
                size = i;
                return this;
            }
            if (b >= 0 && b < ' ' && b != '\n' && b != '\t' || b == 0x7f) {
                return escaped(i, end);
            }
        }
        size = end;
        return this;
    }

    private TextBuffer escaped(int from, int end) {
        byte[] rest = Arrays.copyOfRange(bytes, from, end);
        size = from;
        for (byte b : rest) {
            if (b == 0) {
                break;
            }
            if (b >= 0 && b < ' ' && b != '\n' && b != '\t' || b == 0x7f) {
                put('\\').put('x').hex(b, 2);
            } else {
                put((char) (b & 0xff));
            }
        }
        return this;
    }

    /** Moves what was written since {@code start} to the right or fills up, as printf's width. */
    TextBuffer pad(int start, int width, boolean left) {
        int missing = width - (size - start);
        if (missing > 0) {
            room(missing);
            if (left) {
                Arrays.fill(bytes, size, size + missing, (byte) ' ');
            } else {
                System.arraycopy(bytes, start, bytes, start + missing, size - start);
                Arrays.fill(bytes, start, start + missing, (byte) ' ');
            }
            size += missing;
        }
        return this;
    }

    /** What was written since {@code start}. */
    byte[] since(int start) {
        return Arrays.copyOfRange(bytes, start, size);
    }

    @Override
    public String toString() {
        return new String(bytes, 0, size, StandardCharsets.UTF_8);
    }

    private void room(int count) {
        if (size + count > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + count));
        }
    }
}
