package sonde.format.dwarf.location;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import sonde.format.MalformedInputException;

/** Numbers of DWARF one after the other (DWARF 5, 7.6), never beyond an end. */
final class EntryCursor {
    private final MemorySegment segment;
    private final ValueLayout.OfShort half;
    private final ValueLayout.OfInt word;
    private final ValueLayout.OfLong xword;
    private final boolean bigEndian;
    private final long end;
    private long at;

    EntryCursor(MemorySegment segment, ByteOrder order, long at, long end)
            throws MalformedInputException {
        this.segment = segment;
        this.end = Math.min(end, segment.byteSize());
        half = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(order);
        word = ValueLayout.JAVA_INT_UNALIGNED.withOrder(order);
        xword = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(order);
        bigEndian = order == ByteOrder.BIG_ENDIAN;
        seek(at);
    }

    void seek(long offset) throws MalformedInputException {
        if (offset < 0 || offset > end) {
            throw malformed("byte " + offset + " lies outside");
        }
        at = offset;
    }

    long position() {
        return at;
    }

    long end() {
        return end;
    }

    boolean hasMore() {
        return at < end;
    }

    MalformedInputException malformed(String found) {
        return new MalformedInputException("DWARF", "entry", at, found);
    }

    private long take(long bytes) throws MalformedInputException {
        if (bytes < 0 || bytes > end - at) {
            throw malformed("ends too early");
        }
        long from = at;
        at += bytes;
        return from;
    }

    void skip(long bytes) throws MalformedInputException {
        take(bytes);
    }

    int u8() throws MalformedInputException {
        return segment.get(ValueLayout.JAVA_BYTE, take(1)) & 0xff;
    }

    int u16() throws MalformedInputException {
        return segment.get(half, take(2)) & 0xffff;
    }

    int u24() throws MalformedInputException {
        int a = u8();
        int b = u8();
        int c = u8();
        return bigEndian ? a << 16 | b << 8 | c : c << 16 | b << 8 | a;
    }

    long u32() throws MalformedInputException {
        return segment.get(word, take(4)) & 0xffff_ffffL;
    }

    long u64() throws MalformedInputException {
        return segment.get(xword, take(8));
    }

    /** A number of 1, 2, 4 or 8 bytes. */
    long unsigned(int sizeBytes) throws MalformedInputException {
        return switch (sizeBytes) {
            case 1 -> u8();
            case 2 -> u16();
            case 4 -> u32();
            case 8 -> u64();
            default -> throw malformed("a number of " + sizeBytes + " bytes");
        };
    }

    /** {@link #unsigned} with its sign extended. */
    long signed(int sizeBytes) throws MalformedInputException {
        long value = unsigned(sizeBytes);
        int unused = 64 - 8 * sizeBytes;
        return value << unused >> unused;
    }

    /** Unsigned LEB128; bits beyond 64 are dropped. */
    long uleb() throws MalformedInputException {
        int first = u8();
        if (first < 0x80) {
            return first;
        }
        long value = first & 0x7f;
        int shift = 7;
        int b;
        do {
            b = u8();
            if (shift < 64) {
                value |= (b & 0x7fL) << shift;
            }
            shift += 7;
        } while ((b & 0x80) != 0);
        return value;
    }

    /** Signed LEB128. */
    long sleb() throws MalformedInputException {
        long value = 0;
        int shift = 0;
        int b;
        do {
            b = u8();
            if (shift < 64) {
                value |= (b & 0x7fL) << shift;
            }
            shift += 7;
        } while ((b & 0x80) != 0);
        return shift < 64 && (b & 0x40) != 0 ? value | -1L << shift : value;
    }

    /** Behind a text that ends with NUL. */
    void skipText() throws MalformedInputException {
        while (u8() != 0) {
            // The text.
        }
    }

    MemorySegment slice(long from, long bytes) throws MalformedInputException {
        if (from < 0 || bytes < 0 || bytes > end - from) {
            throw malformed("ends too early");
        }
        return segment.asSlice(from, bytes);
    }

    byte[] bytes(long count) throws MalformedInputException {
        long from = take(count);
        return segment.asSlice(from, count).toArray(ValueLayout.JAVA_BYTE);
    }
}
