package sonde.binary.dwarf.section;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import sonde.binary.MalformedInputException;

/**
 * Numbers of a section one after the other (DWARF 5, 7.6), through a window in the heap: a process
 * that has just begun reads arrays many times faster than mapped memory, and a section may be
 * larger than the heap.
 */
public final class SectionCursor {
    /** Longer texts are cut. */
    private static final int MOST_TEXT = 1 << 16;

    private final String format;
    private final String part;
    private final MemorySegment section;
    private final boolean big;
    private final byte[] window;
    private final long size;
    private long end;
    private long base;
    private int at;
    private int filled;

    /** As much of what is filled as lies before the end. */
    private int limit;

    private boolean wide;

    public SectionCursor(MemorySegment section, boolean big, int windowBytes) {
        this("DWARF", "section", section, big, windowBytes);
    }

    /** Over a section of ELF that is to be named where it is malformed. */
    public SectionCursor(String name, MemorySegment section, ByteOrder order, int windowBytes) {
        this("ELF", name, section, order == ByteOrder.BIG_ENDIAN, windowBytes);
    }

    private SectionCursor(
            String format, String part, MemorySegment section, boolean big, int windowBytes) {
        this.format = format;
        this.part = part;
        this.section = section;
        this.big = big;
        size = section.byteSize();
        end = size;
        window = new byte[(int) Math.clamp(size, 16L, windowBytes)];
    }

    public long size() {
        return size;
    }

    public boolean hasMore() {
        return position() < end;
    }

    public long position() {
        return base + at;
    }

    public void seek(long offset) throws MalformedInputException {
        long inside = offset - base;
        if (inside >= 0 && inside <= limit) {
            at = (int) inside;
            return;
        }
        if (offset < 0 || offset > end) {
            throw malformed("offset 0x" + Long.toHexString(offset) + " outside its section");
        }
        base = offset;
        at = 0;
        filled = 0;
        limit = 0;
    }

    /** Goes to a place from which what lies before {@code to} may be read, up to the next such. */
    public void seek(long from, long to) throws MalformedInputException {
        if (from < 0 || to < from || to > size) {
            throw malformed("bytes " + from + " to " + to + " of " + size);
        }
        end = to;
        limit = (int) Math.clamp(to - base, 0L, filled);
        seek(from);
    }

    /** What is read lies before it: the end of the section, or what was said last. */
    public long end() {
        return end;
    }

    public void skip(long bytes) throws MalformedInputException {
        if (bytes >= 0 && bytes <= limit - at) {
            at += (int) bytes;
        } else if (bytes < 0 || bytes > end - position()) {
            throw malformed("ends too early");
        } else {
            seek(position() + bytes);
        }
    }

    public MalformedInputException malformed(String found) {
        return new MalformedInputException(format, part, position(), found);
    }

    /** Makes the next bytes lie in the window. */
    private void fill(int bytes) throws MalformedInputException {
        long here = position();
        if (end - here < bytes) {
            throw malformed("ends too early");
        }
        int count = (int) Math.min(window.length, end - here);
        MemorySegment.copy(section, ValueLayout.JAVA_BYTE, here, window, 0, count);
        base = here;
        at = 0;
        filled = count;
        limit = count;
    }

    public int u8() throws MalformedInputException {
        if (at >= limit) {
            fill(1);
        }
        return window[at++] & 0xff;
    }

    public int u16() throws MalformedInputException {
        if (limit - at < 2) {
            fill(2);
        }
        int a = window[at] & 0xff;
        int b = window[at + 1] & 0xff;
        at += 2;
        return big ? a << 8 | b : b << 8 | a;
    }

    public int u24() throws MalformedInputException {
        int a = u8();
        int b = u8();
        int c = u8();
        return big ? a << 16 | b << 8 | c : c << 16 | b << 8 | a;
    }

    public long u32() throws MalformedInputException {
        if (limit - at < 4) {
            fill(4);
        }
        byte[] w = window;
        int p = at;
        at = p + 4;
        int a = w[p] & 0xff;
        int b = w[p + 1] & 0xff;
        int c = w[p + 2] & 0xff;
        int d = w[p + 3] & 0xff;
        return (big ? a << 24 | b << 16 | c << 8 | d : d << 24 | c << 16 | b << 8 | a)
                & 0xffff_ffffL;
    }

    public long u64() throws MalformedInputException {
        long a = u32();
        long b = u32();
        return big ? a << 32 | b : b << 32 | a;
    }

    /** A number of 1, 2, 3, 4 or 8 bytes. */
    public long unsigned(int bytes) throws MalformedInputException {
        return switch (bytes) {
            case 1 -> u8();
            case 2 -> u16();
            case 3 -> u24();
            case 4 -> u32();
            case 8 -> u64();
            default -> throw malformed("a number of " + bytes + " bytes");
        };
    }

    /** {@link #unsigned} with its sign extended. */
    public long signed(int bytes) throws MalformedInputException {
        int unused = 64 - 8 * bytes;
        return unsigned(bytes) << unused >> unused;
    }

    /**
     * Length of what begins here, which {@link #offsetBytes} then goes with (DWARF 5, 7.4).
     *
     * @throws MalformedInputException when it is longer than the section
     */
    public long length() throws MalformedInputException {
        long length = u32();
        wide = length == 0xffff_ffffL;
        length = wide ? u64() : length;
        if (length < 0 || length > end - position()) {
            throw malformed("a unit or table of " + length + " bytes");
        }
        return length;
    }

    /** Bytes of numbers that are offsets, 4 or 8, in what {@link #length} was read of last. */
    public int offsetBytes() {
        return wide ? 8 : 4;
    }

    /** Unsigned LEB128; bits beyond 64 are dropped. */
    public long uleb() throws MalformedInputException {
        int first = u8();
        return first < 0x80 ? first : leb(first & 0x7f, 7, false);
    }

    /** The rest of an LEB128 of which the lowest bits are read. */
    private long leb(long low, int bits, boolean signed) throws MalformedInputException {
        long value = low;
        int shift = bits;
        int b;
        do {
            b = u8();
            if (shift < 64) {
                value |= (b & 0x7fL) << shift;
            }
            shift += 7;
        } while (b >= 0x80);
        return signed && shift < 64 && (b & 0x40) != 0 ? value | -1L << shift : value;
    }

    /** An unsigned LEB128 that is to be an int; larger ones are no number of anything. */
    public int smallUleb() throws MalformedInputException {
        long value = uleb();
        return value < 0 || value > Integer.MAX_VALUE ? Integer.MAX_VALUE : (int) value;
    }

    /** A register, as unsigned LEB128; -1 for those that no machine has. */
    public int register() throws MalformedInputException {
        long value = uleb();
        return value < 0 || value > 0xffff ? -1 : (int) value;
    }

    /** Signed LEB128. */
    public long sleb() throws MalformedInputException {
        return leb(0, 0, true);
    }

    /** Behind an LEB128. */
    public void skipLeb() throws MalformedInputException {
        while (u8() >= 0x80) {
            // A byte of it.
        }
    }

    /** Behind a text that ends with NUL. */
    public void skipText() throws MalformedInputException {
        while (u8() != 0) {
            // A byte of it.
        }
    }

    /** The next bytes where they lie; the cursor is then behind them. */
    public MemorySegment slice(long bytes) throws MalformedInputException {
        long from = position();
        skip(bytes);
        return section.asSlice(from, bytes);
    }

    /** A text that ends with NUL or with the section; the cursor is somewhere behind it. */
    public String text() throws MalformedInputException {
        if (limit - at < 128 && end - position() > limit - at) {
            fill(1);
        }
        for (int end = at; end < limit; end++) {
            if (window[end] == 0) {
                return new String(window, at, end - at, StandardCharsets.UTF_8);
            }
        }
        long here = position();
        int most = (int) Math.min(MOST_TEXT, end - here);
        byte[] bytes = section.asSlice(here, most).toArray(ValueLayout.JAVA_BYTE);
        int length = 0;
        while (length < most && bytes[length] != 0) {
            length++;
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }

    /** The text at an offset; empty where the section has none. */
    public String text(long offset) throws MalformedInputException {
        if (offset < 0 || offset >= end) {
            return "";
        }
        seek(offset);
        return text();
    }
}
