package sonde.exchange;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import sonde.binary.MalformedInputException;
import sonde.recording.LongList;

/**
 * Walks the fields of one Protocol Buffers message (protobuf.dev, "Encoding"): {@link #next} goes
 * to the following field, whatever the last one was; values are taken as their wire type has them.
 *
 * {@snippet :
 * Proto packet = new Proto("perfetto", segment);
 * while (packet.next()) {
 *     switch (packet.field()) {
 *         case 8 -> time = packet.value();
 *         case 11 -> event(packet.message());
 *         default -> {}
 *     }
 * }
 * }
 */
public final class ProtoReader {
    /** Wire types. */
    public static final int VARINT = 0;

    public static final int FIXED64 = 1;
    public static final int LENGTH = 2;
    public static final int START_GROUP = 3;
    public static final int END_GROUP = 4;
    public static final int FIXED32 = 5;

    private static final ValueLayout.OfInt U32 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong U64 =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final String format;
    private final MemorySegment segment;
    private final long end;
    private long position;
    private int field;
    private int wire;
    private long value;
    private long start;

    /** All of a segment. */
    public ProtoReader(String format, MemorySegment segment) {
        this(format, segment, 0, segment.byteSize());
    }

    private ProtoReader(String format, MemorySegment segment, long from, long to) {
        this.format = format;
        this.segment = segment;
        this.position = from;
        this.end = to;
    }

    /**
     * Goes to the next field.
     *
     * @return false at the end of the message
     * @throws MalformedInputException when it does not fit the message
     */
    public boolean next() throws MalformedInputException {
        if (position >= end) {
            return false;
        }
        long tag = varint();
        field = (int) (tag >>> 3);
        wire = (int) tag & 7;
        if (field <= 0 || tag >>> 32 != 0) {
            throw malformed("tag " + Long.toUnsignedString(tag));
        }
        start = position;
        switch (wire) {
            case VARINT -> value = varint();
            case FIXED64 -> {
                need(8);
                value = segment.get(U64, position);
                position += 8;
            }
            case LENGTH -> {
                value = varint();
                start = position;
                if (value < 0 || value > end - position) {
                    throw malformed(
                            Long.toUnsignedString(value) + " bytes, " + (end - position) + " left");
                }
                position += value;
            }
            case FIXED32 -> {
                need(4);
                value = segment.get(U32, position) & 0xffff_ffffL;
                position += 4;
            }
            case START_GROUP, END_GROUP -> value = 0;
            default -> throw malformed("wire type " + wire);
        }
        return true;
    }

    private void need(int count) throws MalformedInputException {
        if (count > end - position) {
            throw malformed(count + " bytes wanted, " + (end - position) + " left");
        }
    }

    private long varint() throws MalformedInputException {
        long result = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            need(1);
            byte b = segment.get(ValueLayout.JAVA_BYTE, position++);
            result |= (long) (b & 0x7f) << shift;
            if (b >= 0) {
                return result;
            }
        }
        throw malformed("a varint of more than 10 bytes");
    }

    /** Number of the field. */
    public int field() {
        return field;
    }

    /** Its wire type. */
    public int wire() {
        return wire;
    }

    /** Offset in the segment of the field's value, behind its tag and length. */
    public long offset() {
        return start;
    }

    /** A varint or fixed value; the byte count of a length-delimited one. */
    public long value() {
        return value;
    }

    /** A {@code sint32} or {@code sint64}: zigzag undone. */
    public long zigzag() {
        return value >>> 1 ^ -(value & 1);
    }

    /** A double, float or any integer as a double. */
    public double real() {
        return switch (wire) {
            case FIXED64 -> Double.longBitsToDouble(value);
            case FIXED32 -> Float.intBitsToFloat((int) value);
            default -> value;
        };
    }

    /** The fields of a nested message. */
    public ProtoReader message() throws MalformedInputException {
        delimited();
        return new ProtoReader(format, segment, start, start + value);
    }

    /** Another walk over the fields that are left. */
    public ProtoReader copy() {
        return new ProtoReader(format, segment, position, end);
    }

    /** The bytes where they lie. */
    public MemorySegment bytes() throws MalformedInputException {
        delimited();
        return segment.asSlice(start, value);
    }

    /** A string; what is not UTF-8 becomes U+FFFD. */
    public String text() throws MalformedInputException {
        delimited();
        if (value > 1 << 28) {
            throw malformed("a text of " + value + " bytes");
        }
        byte[] copy = new byte[(int) value];
        MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, start, copy, 0, copy.length);
        return new String(copy, StandardCharsets.UTF_8);
    }

    private void delimited() throws MalformedInputException {
        if (wire != LENGTH) {
            throw malformed("wire type " + wire + " where bytes belong");
        }
    }

    /** Appends a repeated integer field to a list: packed or one by one. */
    public void integers(LongList into) throws MalformedInputException {
        if (wire != LENGTH) {
            into.add(value);
            return;
        }
        ProtoReader packed = new ProtoReader(format, segment, start, start + value);
        while (packed.position < packed.end) {
            into.add(packed.varint());
        }
    }

    /** Appends a repeated fixed64 or integer field to a list: packed or one by one. */
    public void integers64(LongList into) throws MalformedInputException {
        if (wire != LENGTH) {
            into.add(value);
            return;
        }
        for (long at = start; at + 8 <= start + value; at += 8) {
            into.add(segment.get(U64, at));
        }
    }

    private MalformedInputException malformed(String found) {
        return new MalformedInputException(format, "field " + field, position, found);
    }
}
