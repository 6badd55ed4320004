package sonde.bpf.inventory;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import sonde.format.MalformedInputException;
import sonde.format.btf.Btf;
import sonde.format.btf.BtfType;

/**
 * Bytes of a map shown by their BTF type: structures as Map, arrays as List, integers, enumerations
 * and pointers as Long, {@code bool} as Boolean.
 */
public final class TypedBytes {
    /** Deeper types and longer arrays than any map is dumped for. */
    private static final int MOST_DEPTH = 32;

    private static final int MOST_ELEMENTS = 1 << 20;

    private final Btf btf;
    private final ByteBuffer bytes;
    private int elements;

    private TypedBytes(Btf btf, byte[] bytes) {
        this.btf = btf;
        this.bytes = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
    }

    /**
     * The value of a type.
     *
     * @throws MalformedInputException when the type does not fit the bytes
     */
    public static Object of(Btf btf, int type, byte[] bytes) throws MalformedInputException {
        return new TypedBytes(btf, bytes).value(type, 0, 0);
    }

    private Object value(int type, long offset, int depth) throws MalformedInputException {
        if (depth > MOST_DEPTH || ++elements > MOST_ELEMENTS) {
            throw new MalformedInputException("BTF", "type " + type, -1, "too deep or too long");
        }
        int id = btf.skipModifiers(type);
        return switch (btf.type(id)) {
            case BtfType.Int one ->
                    one.encoding() == BtfType.Int.Encoding.BOOL
                            ? (Object) (integer(offset, one.sizeBytes(), false) != 0)
                            : (Object)
                                    integer(
                                            offset,
                                            one.sizeBytes(),
                                            one.encoding() == BtfType.Int.Encoding.SIGNED);
            case BtfType.Enum one -> integer(offset, one.sizeBytes(), one.signed());
            case BtfType.Ptr _ -> integer(offset, 8, false);
            case BtfType.Struct struct -> members(struct, offset, depth);
            case BtfType.Array array -> {
                List<Object> all = new ArrayList<>();
                OptionalLong size = btf.sizeBytes(array.type());
                long count = array.count() & 0xffff_ffffL;
                for (long i = 0; i < count; i++) {
                    long at = offset + i * size.orElse(0);
                    all.add(value(array.type(), at, depth + 1));
                }
                yield all;
            }
            case BtfType other -> raw(other, id, offset);
        };
    }

    private Object members(BtfType.Struct struct, long offset, int depth)
            throws MalformedInputException {
        Map<String, Object> all = new LinkedHashMap<>();
        for (BtfType.Member member : struct.members()) {
            long at = offset + member.bitOffset() / 8;
            Object value =
                    member.bits() == 0
                            ? value(member.type(), at, depth + 1)
                            : bits(offset, member.bitOffset(), member.bits());
            if (member.name().isEmpty() && value instanceof Map<?, ?> inner) {
                inner.forEach((name, one) -> all.put(String.valueOf(name), one));
            } else {
                all.put(member.name(), value);
            }
        }
        return all;
    }

    /** A bit field, little-endian order of bits. */
    private long bits(long offset, int bitOffset, int bits) throws MalformedInputException {
        long value = 0;
        for (int i = 0; i < Math.min(bits, 64); i++) {
            long bit = (long) bitOffset + i;
            long one = integer(offset + bit / 8, 1, false) >> bit % 8 & 1;
            value |= one << i;
        }
        return value;
    }

    private long integer(long offset, int size, boolean signed) throws MalformedInputException {
        if (offset < 0 || offset + size > bytes.capacity()) {
            throw new MalformedInputException("map value", "offset", offset, size + " bytes");
        }
        int at = (int) offset;
        return switch (size) {
            case 1 -> signed ? bytes.get(at) : bytes.get(at) & 0xff;
            case 2 -> signed ? bytes.getShort(at) : bytes.getShort(at) & 0xffff;
            case 4 -> signed ? bytes.getInt(at) : bytes.getInt(at) & 0xffff_ffffL;
            case 8 -> bytes.getLong(at);
            default -> throw new MalformedInputException("BTF", "integer", -1, size + " bytes");
        };
    }

    /** What has no form of its own: its bytes in hexadecimal. */
    private Object raw(BtfType type, int id, long offset) throws MalformedInputException {
        long size = btf.sizeBytes(id).orElse(0);
        StringBuilder text = new StringBuilder("0x");
        for (long i = 0; i < Math.min(size, 64); i++) {
            text.append("%02x".formatted(integer(offset + i, 1, false)));
        }
        return size == 0 ? type.name() : text.toString();
    }
}
