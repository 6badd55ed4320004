package sonde.bpf.inventory;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfType;
import sonde.binary.btf.BtfType.Int.IntEncoding;

/**
 * Bytes of a map shown by their BTF type: structures as Map, arrays as List, integers and pointers
 * as Long (unsigned ones beyond it as BigInteger), {@code bool} as Boolean, floating point as
 * Double, enumerations by name, characters as text where they are printable; a section of an object
 * as a Map from its name to the List of its variables.
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
            case BtfType.Int one when one.sizeBytes() == 16 -> wide(offset);
            case BtfType.Int one -> number(one, offset);
            case BtfType.Enum one -> constant(one, offset);
            case BtfType.Ptr _ -> unsigned(integer(offset, 8, false));
            case BtfType.Struct struct -> members(struct, offset, depth);
            case BtfType.Array array -> elements(array, offset, depth);
            case BtfType.Datasec section -> variables(section, offset, depth);
            case BtfType.Float one when one.sizeBytes() == 4 ->
                    (double) Float.intBitsToFloat((int) integer(offset, 4, false));
            case BtfType.Float one when one.sizeBytes() == 8 ->
                    Double.longBitsToDouble(integer(offset, 8, false));
            case BtfType other -> raw(other, id, offset);
        };
    }

    private Object number(BtfType.Int one, long offset) throws MalformedInputException {
        boolean signed = one.encoding() == IntEncoding.SIGNED;
        long value = integer(offset, one.sizeBytes(), signed);
        if (one.encoding() == IntEncoding.BOOL) {
            return value != 0;
        }
        return signed ? value : unsigned(value);
    }

    private static Number unsigned(long value) {
        return value >= 0 ? (Number) value : new BigInteger(Long.toUnsignedString(value));
    }

    /** By its name where it has one. */
    private Object constant(BtfType.Enum one, long offset) throws MalformedInputException {
        long value = integer(offset, one.sizeBytes(), one.signed());
        // Of four bytes a kernel before 6.0 knows signed ones only.
        for (BtfType.Enumerator named : one.values()) {
            if (named.value() == value
                    || one.sizeBytes() == 4 && (int) named.value() == (int) value) {
                return named.name();
            }
        }
        return one.signed() ? value : unsigned(value);
    }

    private Object elements(BtfType.Array array, long offset, int depth)
            throws MalformedInputException {
        String text = text(array, offset);
        if (text != null) {
            return text;
        }
        List<Object> all = new ArrayList<>();
        OptionalLong size = btf.sizeBytes(array.type());
        long count = array.count() & 0xffff_ffffL;
        for (long i = 0; i < count; i++) {
            long at = offset + i * size.orElse(0);
            all.add(value(array.type(), at, depth + 1));
        }
        return all;
    }

    /** What printable characters say, up to a NUL; null for an array that is not a text. */
    private @Nullable String text(BtfType.Array array, long offset) throws MalformedInputException {
        if (!(btf.type(btf.skipModifiers(array.type())) instanceof BtfType.Int one)
                || one.sizeBytes() != 1
                || one.encoding() != IntEncoding.CHAR && !one.name().equals("char")) {
            return null;
        }
        StringBuilder text = new StringBuilder();
        long count = Math.min(array.count() & 0xffff_ffffL, MOST_ELEMENTS);
        for (long i = 0; i < count; i++) {
            char c = (char) integer(offset + i, 1, false);
            if (c == 0) {
                return text.toString();
            }
            if (c < ' ' || c > '~') {
                return null;
            }
            text.append(c);
        }
        return null;
    }

    /** A section of an object, as bpftool has it: its name over a list of its variables. */
    private Object variables(BtfType.Datasec section, long offset, int depth)
            throws MalformedInputException {
        List<Object> all = new ArrayList<>();
        for (BtfType.SectionVar place : section.vars()) {
            if (btf.type(place.type()) instanceof BtfType.Var variable) {
                long at = offset + (place.offset() & 0xffff_ffffL);
                all.add(Map.of(variable.name(), value(variable.type(), at, depth + 1)));
            }
        }
        return Map.of(section.name(), all);
    }

    private Object members(BtfType.Struct struct, long offset, int depth)
            throws MalformedInputException {
        Map<String, Object> all = new LinkedHashMap<>();
        for (BtfType.Member member : struct.members()) {
            long at = offset + member.bitOffset() / 8;
            Object value =
                    member.bits() == 0 ? value(member.type(), at, depth + 1) : bits(member, offset);
            if (member.name().isEmpty() && value instanceof Map<?, ?> inner) {
                inner.forEach((name, one) -> all.put(String.valueOf(name), one));
            } else {
                all.put(member.name(), value);
            }
        }
        return all;
    }

    /** A bit field, little-endian order of bits. */
    private Object bits(BtfType.Member member, long offset) throws MalformedInputException {
        long value = 0;
        int bits = Math.min(member.bits(), 64);
        for (int i = 0; i < bits; i++) {
            long bit = (long) member.bitOffset() + i;
            long one = integer(offset + bit / 8, 1, false) >> bit % 8 & 1;
            value |= one << i;
        }
        boolean signed =
                switch (btf.type(btf.skipModifiers(member.type()))) {
                    case BtfType.Int one -> one.encoding() == IntEncoding.SIGNED;
                    case BtfType.Enum one -> one.signed();
                    case BtfType _ -> false;
                };
        return signed ? (Number) (value << 64 - bits >> 64 - bits) : unsigned(value);
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

    /** 128 bits in hexadecimal, without leading zeros. */
    private String wide(long offset) throws MalformedInputException {
        boolean little = bytes.order() == ByteOrder.LITTLE_ENDIAN;
        long low = integer(little ? offset : offset + 8, 8, false);
        long high = integer(little ? offset + 8 : offset, 8, false);
        String digits = Long.toHexString(low);
        return "0x"
                + (high == 0 ? "" : Long.toHexString(high) + "0".repeat(16 - digits.length()))
                + digits;
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
