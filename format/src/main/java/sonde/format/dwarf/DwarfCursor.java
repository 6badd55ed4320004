package sonde.format.dwarf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import sonde.format.MalformedInputException;

/** Numbers of DWARF one after the other (DWARF 5, 7.6); every one lies in the section. */
final class DwarfCursor {
    private final MemorySegment segment;
    private final ValueLayout.OfShort u16;
    private final ValueLayout.OfInt u32;
    private final ValueLayout.OfLong u64;
    private final boolean bigEndian;
    private final long end;
    private long at;

    DwarfCursor(MemorySegment segment, ByteOrder order, long at, long end)
            throws MalformedInputException {
        this.segment = segment;
        this.end = Math.min(end, segment.byteSize());
        u16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(order);
        u32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(order);
        u64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(order);
        bigEndian = order == ByteOrder.BIG_ENDIAN;
        seek(at);
    }

    void seek(long offset) throws MalformedInputException {
        if (offset < 0 || offset > end) {
            throw malformed("outside its section");
        }
        at = offset;
    }

    long position() {
        return at;
    }

    long remaining() {
        return end - at;
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
        return segment.get(u16, take(2)) & 0xffff;
    }

    int u24() throws MalformedInputException {
        int a = u8();
        int b = u8();
        int c = u8();
        return bigEndian ? a << 16 | b << 8 | c : c << 16 | b << 8 | a;
    }

    long u32() throws MalformedInputException {
        return segment.get(u32, take(4)) & 0xffff_ffffL;
    }

    long u64() throws MalformedInputException {
        return segment.get(u64, take(8));
    }

    /** A number of 4 or 8 bytes, by the format of the unit. */
    long offset(int sizeBytes) throws MalformedInputException {
        return sizeBytes == 8 ? u64() : u32();
    }

    long unsigned(int sizeBytes) throws MalformedInputException {
        return switch (sizeBytes) {
            case 1 -> u8();
            case 2 -> u16();
            case 4 -> u32();
            case 8 -> u64();
            default -> throw malformed("a number of " + sizeBytes + " bytes");
        };
    }

    /** Unsigned LEB128; bits beyond 64 are dropped. */
    long uleb() throws MalformedInputException {
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
}
