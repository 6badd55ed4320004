package sonde.binary;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Reads one field after the other and never beyond the end: a field that does not fit is a {@link
 * MalformedInputException} naming it.
 */
public final class FieldCursor {
    private static final ValueLayout.OfShort U16 = ValueLayout.JAVA_SHORT_UNALIGNED;
    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED;

    private final String format;
    private final MemorySegment segment;
    private final boolean swapped;
    private long position;

    /**
     * At the start of a segment.
     *
     * @param format name of the format, for exceptions
     * @param order of its integers
     */
    public FieldCursor(String format, MemorySegment segment, ByteOrder order) {
        this.format = format;
        this.segment = segment;
        this.swapped = order != ByteOrder.nativeOrder();
    }

    /** Bytes from the start of the segment. */
    public long position() {
        return position;
    }

    /** Bytes left. */
    public long remaining() {
        return segment.byteSize() - position;
    }

    /** Goes to an offset from the start of the segment. */
    public void seek(String field, long offset) throws MalformedInputException {
        if (offset < 0 || offset > segment.byteSize()) {
            throw malformed(field, "offset " + offset + " is outside " + segment.byteSize());
        }
        position = offset;
    }

    /** Unsigned byte. */
    public int u8(String field) throws MalformedInputException {
        return segment.get(ValueLayout.JAVA_BYTE, take(field, 1)) & 0xff;
    }

    /** Unsigned 16 bits. */
    public int u16(String field) throws MalformedInputException {
        short value = segment.get(U16, take(field, 2));
        return (swapped ? Short.reverseBytes(value) : value) & 0xffff;
    }

    /** Signed 32 bits. */
    public int s32(String field) throws MalformedInputException {
        int value = segment.get(U32, take(field, 4));
        return swapped ? Integer.reverseBytes(value) : value;
    }

    /** Unsigned 32 bits. */
    public long u32(String field) throws MalformedInputException {
        return s32(field) & 0xffff_ffffL;
    }

    /** 64 bits. */
    public long u64(String field) throws MalformedInputException {
        long value = segment.get(U64, take(field, 8));
        return swapped ? Long.reverseBytes(value) : value;
    }

    /** A count or size that must lie in 0..{@code limit}; the value is taken as unsigned. */
    public int bounded(String field, long value, long limit) throws MalformedInputException {
        if (value < 0 || value > limit || value > Integer.MAX_VALUE) {
            throw malformed(field, Long.toUnsignedString(value) + ", at most " + limit);
        }
        return (int) value;
    }

    /** A copy of the next bytes. */
    public byte[] bytes(String field, long sizeBytes) throws MalformedInputException {
        if (sizeBytes < 0 || sizeBytes > remaining()) {
            throw malformed(
                    field, Long.toUnsignedString(sizeBytes) + " bytes, " + remaining() + " left");
        }
        byte[] copy = new byte[bounded(field, sizeBytes, Integer.MAX_VALUE - 16)];
        MemorySegment.copy(
                segment, ValueLayout.JAVA_BYTE, take(field, sizeBytes), copy, 0, copy.length);
        return copy;
    }

    /** The next bytes where they lie. */
    public MemorySegment slice(String field, long sizeBytes) throws MalformedInputException {
        return segment.asSlice(take(field, sizeBytes), sizeBytes);
    }

    /** A text ended by NUL, without it. */
    public String text(String field, int mostBytes) throws MalformedInputException {
        long limit = Math.min(remaining(), mostBytes);
        for (int length = 0; length < limit; length++) {
            if (segment.get(ValueLayout.JAVA_BYTE, position + length) == 0) {
                byte[] bytes = bytes(field, length);
                position++;
                return new String(bytes, StandardCharsets.UTF_8);
            }
        }
        throw malformed(field, "no NUL within " + limit + " bytes");
    }

    /** An exception for the field at the current position. */
    public MalformedInputException malformed(String field, String found) {
        return new MalformedInputException(format, field, position, found);
    }

    private long take(String field, long sizeBytes) throws MalformedInputException {
        if (sizeBytes < 0 || sizeBytes > remaining()) {
            throw malformed(field, sizeBytes + " bytes wanted, " + remaining() + " left");
        }
        long at = position;
        position += sizeBytes;
        return at;
    }
}
