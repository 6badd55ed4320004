package sonde.format.unwind;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import sonde.format.MalformedInputException;

/** Numbers of a section one after the other; every one lies before {@code end}. */
final class ByteReader {
    private final MemorySegment bytes;
    private final ValueLayout.OfShort u16;
    private final ValueLayout.OfInt u32;
    private final ValueLayout.OfLong u64;
    private final String section;
    long at;
    long end;

    ByteReader(String section, MemorySegment bytes, ByteOrder order) {
        this.section = section;
        this.bytes = bytes;
        u16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(order);
        u32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(order);
        u64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(order);
        end = bytes.byteSize();
    }

    /** Goes to a place from which fields up to {@code to} are read. */
    void seek(long from, long to) throws MalformedInputException {
        if (from < 0 || to < from || to > bytes.byteSize()) {
            throw malformed("bytes " + from + " to " + to + " of " + bytes.byteSize());
        }
        at = from;
        end = to;
    }

    MalformedInputException malformed(String found) {
        return new MalformedInputException("ELF", section, at, found);
    }

    private long take(long count) throws MalformedInputException {
        if (count < 0 || count > end - at) {
            throw malformed("ends too early");
        }
        long from = at;
        at += count;
        return from;
    }

    void skip(long count) throws MalformedInputException {
        take(count);
    }

    long size() {
        return bytes.byteSize();
    }

    boolean hasMore() {
        return at < end;
    }

    int u8() throws MalformedInputException {
        return bytes.get(ValueLayout.JAVA_BYTE, take(1)) & 0xff;
    }

    int u16() throws MalformedInputException {
        return bytes.get(u16, take(2)) & 0xffff;
    }

    long u32() throws MalformedInputException {
        return bytes.get(u32, take(4)) & 0xffff_ffffL;
    }

    long u64() throws MalformedInputException {
        return bytes.get(u64, take(8));
    }

    long word(int sizeBytes) throws MalformedInputException {
        return sizeBytes == 8 ? u64() : u32();
    }

    /** Signed number of 1, 2 or 4 bytes. */
    long signed(int sizeBytes) throws MalformedInputException {
        return switch (sizeBytes) {
            case 1 -> (byte) u8();
            case 2 -> (short) u16();
            default -> (int) u32();
        };
    }

    long uleb() throws MalformedInputException {
        return leb(false);
    }

    long sleb() throws MalformedInputException {
        return leb(true);
    }

    private long leb(boolean signed) throws MalformedInputException {
        long value = 0;
        int shift = 0;
        int one;
        do {
            one = u8();
            value |= shift < 64 ? (one & 0x7fL) << shift : 0;
            shift += 7;
        } while ((one & 0x80) != 0);
        return signed && shift < 64 && (one & 0x40) != 0 ? value | -1L << shift : value;
    }

    /** A register, as unsigned LEB128; those that no machine has become -1. */
    int register() throws MalformedInputException {
        long value = uleb();
        return value < 0 || value > 0xffff ? -1 : (int) value;
    }

    byte[] copy(long count, int most) throws MalformedInputException {
        if (count < 0 || count > most) {
            throw malformed(Long.toUnsignedString(count) + " bytes, at most " + most);
        }
        return bytes.asSlice(take(count), count).toArray(ValueLayout.JAVA_BYTE);
    }
}
