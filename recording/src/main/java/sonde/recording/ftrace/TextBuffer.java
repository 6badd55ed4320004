package sonde.recording.ftrace;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import sonde.event.Batch;
import sonde.event.result.RowOutput;

/** A growing buffer of text in bytes. */
public class TextBuffer {
    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    // The two characters of 0..99 and of 0x00..0xff.
    private static final short[] DECIMAL_PAIRS = pairs(100, 10);
    private static final short[] HEX_PAIRS = pairs(256, 16);
    // The least numbers of 1, 2 … 19 digits; the first is never compared with.
    private static final long[] POWERS = powers();
    private static final VarHandle EIGHT =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final long ONES = 0x0101010101010101L;
    private static final long HIGH_BITS = 0x8080808080808080L;

    /** The text, up to {@link #size}; another array after each call that makes it longer. */
    protected byte[] bytes;

    /** Bytes in it. */
    protected int size;

    /** Whether anything was put in that may be no printable ASCII. */
    private boolean foreign;

    /** Empty, with room for that many bytes. */
    public TextBuffer(int expectedBytes) {
        bytes = new byte[Math.max(expectedBytes, 64)];
    }

    private static short[] pairs(int count, int radix) {
        short[] pairs = new short[count];
        for (int i = 0; i < count; i++) {
            pairs[i] = (short) (HEX[i / radix] | HEX[i % radix] << 8);
        }
        return pairs;
    }

    private static long[] powers() {
        long[] powers = new long[19];
        long power = 1;
        for (int i = 0; i < powers.length; i++) {
            powers[i] = power;
            power *= 10;
        }
        return powers;
    }

    /** Bytes in it. */
    public final int size() {
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
        foreign = false;
    }

    /** Writes everything, which {@link #isPlain} has been asked about, and empties the buffer. */
    void drainTo(OutputStream out, boolean plain) throws IOException {
        if (plain && out instanceof RowOutput rows) {
            rows.writePlain(bytes, 0, size);
            size = 0;
            foreign = false;
        } else {
            drainTo(out);
        }
    }

    /** Whether it holds printable ASCII, tabs and line feeds only. */
    boolean isPlain() {
        return !foreign || looksPlain();
    }

    private boolean looksPlain() {
        byte[] all = bytes;
        int end = size;
        int at = 0;
        for (; at + 32 <= end; at += 32) {
            long strange =
                    strange((long) EIGHT.get(all, at))
                            | strange((long) EIGHT.get(all, at + 8))
                            | strange((long) EIGHT.get(all, at + 16))
                            | strange((long) EIGHT.get(all, at + 24));
            if (strange != 0) {
                return false;
            }
        }
        for (; at < end; at++) {
            byte b = all[at];
            if ((b < ' ' || b == 0x7f) && b != '\n' && b != '\t') {
                return false;
            }
        }
        return true;
    }

    /** The high bits of those of eight bytes that are none of the plain ones. */
    private static long strange(long eight) {
        long low = eight & ~HIGH_BITS;
        // The high bit of each byte: not below 0x20; is 0x7f; is not a line feed; is no tab.
        long printable = low + 0x60 * ONES;
        long del = low + ONES;
        long other = (low ^ '\n' * ONES) + 0x7f * ONES & (low ^ '\t' * ONES) + 0x7f * ONES;
        return (eight | (~printable | del) & other) & HIGH_BITS;
    }

    /** The byte at an index. */
    public byte at(int index) {
        return bytes[index];
    }

    /** One byte. */
    public TextBuffer put(char ascii) {
        foreign |= ascii < ' ' && ascii != '\n' && ascii != '\t' || ascii >= 0x7f;
        room(1);
        bytes[size++] = (byte) ascii;
        return this;
    }

    /** Bytes as they are. */
    public TextBuffer put(byte[] text) {
        foreign = true;
        room(text.length);
        System.arraycopy(text, 0, bytes, size, text.length);
        size += text.length;
        return this;
    }

    /** Part of an array as it is. */
    public TextBuffer put(byte[] text, int offset, int length) {
        foreign = true;
        room(length);
        System.arraycopy(text, offset, bytes, size, length);
        size += length;
        return this;
    }

    /** A text that was prepared for it. */
    public TextBuffer put(PackedText text) {
        room(text.room());
        text.writeTo(bytes, size);
        size += text.length();
        foreign |= !text.isPlain();
        return this;
    }

    /** Part of another buffer. */
    TextBuffer put(TextBuffer text, int from, int to) {
        return put(text.bytes, from, to - from);
    }

    /** A text in UTF-8. */
    public TextBuffer put(String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        return put(utf8, 0, utf8.length);
    }

    /** {@code count} blanks; none when negative. */
    public TextBuffer blanks(int count) {
        if (count > 0) {
            room(count + 7);
            for (int i = 0; i < count; i += 8) {
                EIGHT.set(bytes, size + i, ' ' * ONES);
            }
            size += count;
        }
        return this;
    }

    /** {@code count} times the same byte; none when negative. */
    public TextBuffer fill(char ascii, int count) {
        foreign |= ascii < ' ' || ascii >= 0x7f;
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
        room(20 + least);
        if (value < 10 && least <= 1) {
            bytes[size++] = (byte) ('0' + value);
            return this;
        }
        int count = decimalDigits(value);
        if (count < least) {
            Arrays.fill(bytes, size, size + least - count, (byte) '0');
            size += least - count;
        }
        size += count;
        int at = size;
        long rest = value;
        while (rest > Integer.MAX_VALUE) {
            long above = rest / 100_000_000;
            at -= 8;
            eightDigits((int) (rest - above * 100_000_000), at);
            rest = above;
        }
        int small = (int) rest;
        while (small >= 100) {
            int hundredth = small / 100;
            at -= 2;
            pair(at, DECIMAL_PAIRS[small - hundredth * 100]);
            small = hundredth;
        }
        if (small >= 10) {
            pair(at - 2, DECIMAL_PAIRS[small]);
        } else {
            bytes[at - 1] = (byte) ('0' + small);
        }
        return this;
    }

    /** The JIT makes one store of it (JDK-8318446); until then two are faster than a VarHandle. */
    private void pair(int at, short two) {
        byte[] all = bytes;
        all[at] = (byte) two;
        all[at + 1] = (byte) (two >> 8);
    }

    private void eightDigits(int value, int at) {
        int upper = value / 10_000;
        int lower = value - upper * 10_000;
        int first = upper / 100;
        int third = lower / 100;
        pair(at, DECIMAL_PAIRS[first]);
        pair(at + 2, DECIMAL_PAIRS[upper - first * 100]);
        pair(at + 4, DECIMAL_PAIRS[third]);
        pair(at + 6, DECIMAL_PAIRS[lower - third * 100]);
    }

    /** Two numbers below a thousand with a point between, the second with leading zeros. */
    TextBuffer thousandths(int whole, int rest) {
        room(8);
        int at = size;
        if (whole >= 100) {
            bytes[at++] = (byte) ('0' + whole / 100);
            pair(at, DECIMAL_PAIRS[whole % 100]);
            at += 2;
        } else if (whole >= 10) {
            pair(at, DECIMAL_PAIRS[whole]);
            at += 2;
        } else {
            bytes[at++] = (byte) ('0' + whole);
        }
        bytes[at] = '.';
        bytes[at + 1] = (byte) ('0' + rest / 100);
        pair(at + 2, DECIMAL_PAIRS[rest % 100]);
        size = at + 4;
        return this;
    }

    /** A number below a million with leading zeros. */
    public TextBuffer sixDigits(int value) {
        room(6);
        int thousands = value / 10_000;
        int rest = value - thousands * 10_000;
        int hundreds = rest / 100;
        pair(size, DECIMAL_PAIRS[thousands]);
        pair(size + 2, DECIMAL_PAIRS[hundreds]);
        pair(size + 4, DECIMAL_PAIRS[rest - hundreds * 100]);
        size += 6;
        return this;
    }

    /** A number below a thousand million with leading zeros. */
    public TextBuffer nineDigits(int value) {
        room(10);
        int first = value / 100_000_000;
        bytes[size] = (byte) ('0' + first);
        eightDigits(value - first * 100_000_000, size + 1);
        size += 9;
        return this;
    }

    /** Digits of a number that is not negative, from the place of its highest bit. */
    private static int decimalDigits(long value) {
        int least = (64 - Long.numberOfLeadingZeros(value)) * 1233 >>> 12;
        return value >= POWERS[least] ? least + 1 : Math.max(least, 1);
    }

    /** An unsigned hexadecimal number in lower case, at least {@code least} digits. */
    public TextBuffer hex(long value, int least) {
        if ((value & ~15) == 0 && least <= 1) {
            room(1);
            bytes[size++] = HEX[(int) value];
            return this;
        }
        int count = Math.max(least, (67 - Long.numberOfLeadingZeros(value)) >>> 2);
        count = Math.max(count, 1);
        room(count);
        int at = size + count;
        long rest = value;
        while (at - 2 >= size) {
            at -= 2;
            pair(at, HEX_PAIRS[(int) rest & 0xff]);
            rest >>>= 8;
        }
        if (at > size) {
            bytes[size] = HEX[(int) rest & 15];
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
        foreign = true;
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

    /** Bytes of the payload as they are; whoever calls escapes them. */
    public TextBuffer raw(Batch batch, int row, int offset, int length) {
        room(length);
        foreign = true;
        batch.copy(row, offset, length, bytes, size);
        size += length;
        return this;
    }

    /**
     * Bytes of the payload as they are; whoever calls drops or escapes those behind the result.
     *
     * @return where the first is that a table of 256 marks; the size when there is none
     */
    public int rawUntil(Batch batch, int row, int offset, int length, boolean[] marked) {
        room(length);
        batch.copy(row, offset, length, bytes, size);
        byte[] all = bytes;
        int at = size;
        size += length;
        for (; at < size && !marked[all[at] & 0xff]; at++) {
            foreign |= all[at] < ' ' || all[at] == 0x7f;
        }
        return at;
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
    public TextBuffer pad(int start, int width, boolean left) {
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
    public byte[] since(int start) {
        return Arrays.copyOfRange(bytes, start, size);
    }

    @Override
    public String toString() {
        return new String(bytes, 0, size, StandardCharsets.UTF_8);
    }

    /** Makes room behind the text for that many bytes. */
    protected final void room(int count) {
        if (bytes.length - size < count) {
            int wanted = Math.addExact(size, count);
            int doubled = (int) Math.min(2L * bytes.length, Integer.MAX_VALUE - 8);
            bytes = Arrays.copyOf(bytes, Math.max(wanted, doubled));
        }
    }
}
