package sonde.exchange.jfr;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import sonde.binary.FieldCursor;
import sonde.binary.MalformedInputException;

/** Numbers and texts as a chunk has them: compressed integers (LEB128, 9 bytes) or plain ones. */
final class JfrCursor {
    static final String FORMAT = "jfr";

    private final FieldCursor cursor;
    private final boolean compressed;

    JfrCursor(MemorySegment chunk, boolean compressed) {
        this.cursor = new FieldCursor(FORMAT, chunk, ByteOrder.BIG_ENDIAN);
        this.compressed = compressed;
    }

    /** A text that stands in the constant pool. */
    record Pooled(long key) {}

    void seek(String field, long offset) throws MalformedInputException {
        cursor.seek(field, offset);
    }

    long integer(String field) throws MalformedInputException {
        if (!compressed) {
            return cursor.u64(field);
        }
        return leb(field);
    }

    int small(String field) throws MalformedInputException {
        return (int) (compressed ? leb(field) : cursor.s32(field));
    }

    int tiny(String field) throws MalformedInputException {
        return (int) (compressed ? leb(field) : cursor.u16(field));
    }

    private long leb(String field) throws MalformedInputException {
        long value = 0;
        for (int shift = 0; shift < 56; shift += 7) {
            int b = cursor.u8(field);
            value |= (b & 0x7fL) << shift;
            if (b < 0x80) {
                return value;
            }
        }
        return value | (long) cursor.u8(field) << 56;
    }

    int u8(String field) throws MalformedInputException {
        return cursor.u8(field);
    }

    float real32(String field) throws MalformedInputException {
        return Float.intBitsToFloat(cursor.s32(field));
    }

    double real64(String field) throws MalformedInputException {
        return Double.longBitsToDouble(cursor.u64(field));
    }

    /** A count, which cannot exceed the bytes that are left. */
    int count(String field) throws MalformedInputException {
        return cursor.bounded(field, small(field) & 0xffff_ffffL, cursor.remaining());
    }

    /** Null, a String, or {@link Pooled}. */
    @Nullable Object text(String field) throws MalformedInputException {
        int encoding = cursor.u8(field);
        return switch (encoding) {
            case 0 -> null;
            case 1 -> "";
            case 2 -> new Pooled(integer(field));
            case 3 -> new String(cursor.bytes(field, count(field)), StandardCharsets.UTF_8);
            case 4 -> {
                int length = count(field);
                StringBuilder chars = new StringBuilder(length);
                for (int i = 0; i < length; i++) {
                    chars.append((char) tiny(field));
                }
                yield chars.toString();
            }
            case 5 -> new String(cursor.bytes(field, count(field)), StandardCharsets.ISO_8859_1);
            default -> throw cursor.malformed(field, "text encoding " + encoding);
        };
    }

    MalformedInputException malformed(String field, String found) {
        return cursor.malformed(field, found);
    }
}
