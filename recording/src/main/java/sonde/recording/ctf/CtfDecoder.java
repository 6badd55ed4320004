package sonde.recording.ctf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import sonde.recording.ctf.schema.ClockClass;
import sonde.recording.ctf.schema.FieldClass;
import sonde.recording.ctf.schema.FieldClass.BitField;
import sonde.recording.ctf.schema.FieldClass.StructureClass;
import sonde.recording.ctf.schema.FieldClass.TextClass;
import sonde.recording.ctf.schema.FieldClass.VariantClass;
import sonde.recording.ctf.schema.FieldLength;
import sonde.recording.ctf.schema.FieldRole;

/**
 * Goes through steps: reads fields of a packet, keeps what later ones need, puts what users see
 * into a payload. Every read is checked against the end of the packet's content.
 */
final class CtfDecoder {
    private static final ValueLayout.OfShort U16 = ValueLayout.JAVA_SHORT_UNALIGNED;
    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED;

    private static final int TIMESTAMP = FieldRole.DEFAULT_CLOCK_TIMESTAMP.ordinal();
    private static final int UUID = FieldRole.METADATA_STREAM_UUID.ordinal();

    final PayloadBuffer payload = new PayloadBuffer(1 << 16);
    final long[] slots;

    private MemorySegment memory = MemorySegment.NULL;

    /** First bit of the packet in the memory. */
    private long base;

    /** Bits from the packet's first. */
    long position;

    /** Bits of the packet's content. */
    long end;

    /** What the fields with a role said, by {@link FieldRole#ordinal()}. */
    final long[] told = new long[FieldRole.values().length];

    final boolean[] hasTold = new boolean[told.length];

    /** The clock's value, extended beyond the bits that events carry. */
    long cycles;

    /** Whether a packet had the UUID of another trace. */
    boolean foreign;

    /** The metadata's UUID; null when it has none. */
    private final byte @Nullable [] uuid;

    CtfDecoder(DecodePlan plan) {
        slots = new long[plan.slots];
        uuid = plan.trace.uuid;
    }

    /** Goes to the start of a packet that has at most so many bits. */
    void packet(MemorySegment file, long offsetBytes, long bits) {
        memory = file;
        base = 8 * offsetBytes;
        position = 0;
        end = bits;
        Arrays.fill(hasTold, false);
    }

    boolean has(FieldRole role) {
        return hasTold[role.ordinal()];
    }

    long told(FieldRole role, long otherwise) {
        return hasTold[role.ordinal()] ? told[role.ordinal()] : otherwise;
    }

    void forget(FieldRole role) {
        hasTold[role.ordinal()] = false;
    }

    /** Nanoseconds of the clock now. */
    long nanos(@Nullable ClockClass clock) {
        return clock == null ? 0 : clock.nanos(cycles);
    }

    private long take(long mask, long bits) throws PacketOverrun {
        long at = position + mask & ~mask;
        long next = at + bits;
        if (next > end || next < at || at < position) {
            throw new PacketOverrun("a field reaches beyond the packet's content");
        }
        position = next;
        return at;
    }

    void run(ReadOp[] ops) throws PacketOverrun {
        for (ReadOp op : ops) {
            switch (op.code) {
                case ReadOp.ALIGN -> take(op.mask, 0);
                case ReadOp.BYTES_8 ->
                        integer(op, memory.get(ValueLayout.JAVA_BYTE, bytes(op, 8)), 8);
                case ReadOp.BYTES_16 -> integer(op, memory.get(U16, bytes(op, 16)), 16);
                case ReadOp.BYTES_32 -> integer(op, memory.get(U32, bytes(op, 32)), 32);
                case ReadOp.BYTES_64 -> integer(op, memory.get(U64, bytes(op, 64)), 64);
                case ReadOp.BITS -> bits(op);
                case ReadOp.COPY -> copy(op);
                case ReadOp.VARIABLE -> variable(op);
                default -> other(op);
            }
        }
    }

    private void other(ReadOp op) throws PacketOverrun {
        switch (op.code) {
            case ReadOp.REAL -> {
                double value = real(op);
                if (op.at >= 0) {
                    payload.put(op.at, 8, Double.doubleToRawLongBits(value));
                }
            }
            case ReadOp.WIDE -> {
                byte[] digits = digits(op.node);
                if (op.at >= 0) {
                    int to = payload.span(op.at, 1, digits.length);
                    System.arraycopy(digits, 0, payload.bytes, to, digits.length);
                }
            }
            case ReadOp.TERMINATED -> terminated(op);
            case ReadOp.TEXT -> text(op);
            case ReadOp.BLOB -> blob(op);
            case ReadOp.INTEGERS -> integers(op);
            case ReadOp.VALUES -> values(op);
            case ReadOp.VARIANT -> variant(op);
            default -> throw new IllegalStateException("step " + op.code);
        }
    }

    private void copy(ReadOp op) throws PacketOverrun {
        long at = (base + take(op.mask, op.bits)) >>> 3;
        if (op.at >= 0) {
            copy(at, payload.start + op.at, (int) (op.bits >>> 3));
        }
    }

    private long bytes(ReadOp op, int bits) throws PacketOverrun {
        return (base + take(op.mask, bits)) >>> 3;
    }

    /** What has been read of an integer: sign-extended, whatever its sign. */
    private void integer(ReadOp op, long value, int bits) {
        if (op.at >= 0) {
            payload.put(op.at, op.storedBytes, value);
        }
        if (op.slot >= 0 || op.roles.length > 0) {
            keep(op, op.signed || bits == 64 ? value : value & (1L << bits) - 1, bits);
        }
    }

    private void keep(ReadOp op, long value, int bits) {
        if (op.slot >= 0) {
            slots[op.slot] = value;
        }
        for (int role : op.roles) {
            told[role] = value;
            hasTold[role] = true;
            if (role == TIMESTAMP) {
                tick(value, bits);
            }
        }
    }

    /** Extends a sample of the clock's low bits (CTF2-SPEC-2.0, section 6.3). */
    private void tick(long value, int bits) {
        if (bits >= 64) {
            cycles = value;
            return;
        }
        long mask = (1L << bits) - 1;
        long high = cycles & ~mask;
        cycles = (value >= (cycles & mask) ? high : high + mask + 1) | value;
    }

    private void bits(ReadOp op) throws PacketOverrun {
        int count = (int) op.bits;
        long at = base + take(op.mask, count);
        long value = BitReader.read(memory, at, count, op.bigEndian);
        integer(op, shaped(op, value, count), count);
    }

    private static long shaped(ReadOp op, long value, int count) {
        if (op.reversed) {
            value = BitReader.reversed(value, count);
        }
        if (op.bool) {
            return value == 0 ? 0 : 1;
        }
        return op.signed ? BitReader.signed(value, count) : value;
    }

    private long leb;

    /** Reads LEB128 into {@link #leb}; how many bits it carried. */
    private int leb(boolean signed) throws PacketOverrun {
        long value = 0;
        int shift = 0;
        int octet;
        do {
            long at = (base + take(7, 8)) >>> 3;
            octet = memory.get(ValueLayout.JAVA_BYTE, at);
            long seven = octet & 0x7f;
            if (shift < 64) {
                value |= seven << shift;
            }
            boolean lost = shift >= 63 && seven != 0 && seven != 0x7f && (shift > 63 || seven != 1);
            if (lost || shift > 63 * 7) {
                throw new PacketOverrun("a variable-length integer of more than 64 bits");
            }
            shift += 7;
        } while (octet < 0);
        if (signed && shift < 64 && (octet & 0x40) != 0) {
            value |= -1L << shift;
        }
        leb = value;
        return shift;
    }

    private void variable(ReadOp op) throws PacketOverrun {
        int bits = leb(op.signed);
        if (op.at >= 0) {
            payload.put(op.at, 8, leb);
        }
        keep(op, leb, bits);
    }

    private double real(ReadOp op) throws PacketOverrun {
        int count = (int) op.bits;
        long at = base + take(op.mask, count);
        if (count == 128) {
            long first = BitReader.read(memory, at, 64, op.bigEndian);
            long second = BitReader.read(memory, at + 64, 64, op.bigEndian);
            boolean highFirst = op.bigEndian;
            if (op.reversed) {
                first = Long.reverse(first);
                second = Long.reverse(second);
                highFirst = !highFirst;
            }
            return highFirst
                    ? RealNumbers.quadruple(first, second)
                    : RealNumbers.quadruple(second, first);
        }
        long value = BitReader.read(memory, at, count, op.bigEndian);
        if (op.reversed) {
            value = BitReader.reversed(value, count);
        }
        return switch (count) {
            case 16 -> Float.float16ToFloat((short) value);
            case 32 -> Float.intBitsToFloat((int) value);
            default -> Double.longBitsToDouble(value);
        };
    }

    /** An integer of more than 64 bits as text. */
    private byte[] digits(@Nullable FieldNode node) throws PacketOverrun {
        if (node == null || !(node.type instanceof FieldClass.WideInteger wide)) {
            throw new IllegalStateException("no wide integer");
        }
        long at = base + take(wide.alignment() - 1, wide.bits());
        return WideText.of(memory, at, wide).getBytes(StandardCharsets.US_ASCII);
    }

    private long count(ReadOp op) {
        return op.count >= 0 ? op.count : slots[op.selector];
    }

    private static TextClass text(@Nullable FieldNode node) {
        if (node != null && node.type instanceof TextClass text) {
            return text;
        }
        throw new IllegalStateException("no text");
    }

    private void terminated(ReadOp op) throws PacketOverrun {
        TextClass text = text(op.node);
        long at = (base + take(7, 0)) >>> 3;
        long last = (base + end) >>> 3;
        int unit = text.unitBytes();
        long nul = unit == 1 ? NulSearch.find(memory, at, last) : wide(at, last, unit);
        if (nul < 0) {
            throw new PacketOverrun("a text without its NUL");
        }
        position += 8 * (nul + unit - at);
        string(op, text.encoding(), at, nul - at);
    }

    private long wide(long at, long last, int unit) {
        for (long i = at; i + unit <= last; i += unit) {
            boolean zero = true;
            for (int j = 0; j < unit; j++) {
                zero &= memory.get(ValueLayout.JAVA_BYTE, i + j) == 0;
            }
            if (zero) {
                return i;
            }
        }
        return -1;
    }

    private void text(ReadOp op) throws PacketOverrun {
        TextClass text = text(op.node);
        long at = octets(op);
        long last = (base + position) >>> 3;
        int unit = text.unitBytes();
        long nul = unit == 1 ? NulSearch.find(memory, at, last) : wide(at, last, unit);
        string(op, text.encoding(), at, (nul < 0 ? last : nul) - at);
    }

    /** Takes as many bytes as a length says. */
    private long octets(ReadOp op) throws PacketOverrun {
        long count = count(op);
        if (count < 0 || count > end >>> 3) {
            throw new PacketOverrun("a length beyond the packet");
        }
        return (base + take(7, 8 * count)) >>> 3;
    }

    private void string(ReadOp op, Charset encoding, long at, long count) throws PacketOverrun {
        if (op.at < 0) {
            return;
        }
        if (encoding.equals(StandardCharsets.UTF_8)) {
            int to = payload.span(op.at, 1, count);
            copy(at, to, (int) count);
        } else {
            byte[] text = recoded(encoding, at, count);
            int to = payload.span(op.at, 1, text.length);
            System.arraycopy(text, 0, payload.bytes, to, text.length);
        }
    }

    private byte[] recoded(Charset encoding, long at, long count) throws PacketOverrun {
        if (count > 1 << 26) {
            throw new PacketOverrun("a text of " + count + " bytes");
        }
        byte[] raw = new byte[(int) count];
        MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, at, raw, 0, raw.length);
        return new String(raw, encoding).getBytes(StandardCharsets.UTF_8);
    }

    /** Few bytes, as in most events, are copied faster by words. */
    private void copy(long from, int to, int count) {
        if (count > 64) {
            MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, from, payload.bytes, to, count);
            return;
        }
        int i = 0;
        for (; i + 8 <= count; i += 8) {
            payload.raw(to + i, 8, memory.get(U64, from + i));
        }
        for (; i < count; i++) {
            payload.bytes[to + i] = memory.get(ValueLayout.JAVA_BYTE, from + i);
        }
    }

    private void blob(ReadOp op) throws PacketOverrun {
        long at = octets(op);
        for (int role : op.roles) {
            if (role == UUID) {
                uuid(at, count(op));
            }
        }
        if (op.at >= 0) {
            long count = count(op);
            int to = payload.span(op.at, 1, count);
            copy(at, to, (int) count);
        }
    }

    private void uuid(long at, long count) {
        byte[] wanted = uuid;
        if (wanted == null || count != 16) {
            return;
        }
        for (int i = 0; i < 16; i++) {
            foreign |= memory.get(ValueLayout.JAVA_BYTE, at + i) != wanted[i];
        }
    }

    private void integers(ReadOp op) throws PacketOverrun {
        long count = count(op);
        ReadOp element = op.options[0][0];
        take(op.mask, 0);
        if (count < 0 || count > end) {
            throw new PacketOverrun("a length beyond the packet");
        }
        int size = op.storedBytes;
        boolean packed = op.bits % (element.mask + 1) == 0;
        boolean asTheyLie = element.code != ReadOp.BITS && packed && op.bits == 8L * size;
        if (asTheyLie && op.slot < 0) {
            long at = (base + take(op.mask, op.bits * count)) >>> 3;
            if (op.at >= 0) {
                int to = payload.span(op.at, size, size * count);
                copy(at, to, (int) (size * count));
            }
            return;
        }
        if (op.bits * count > end - position) {
            throw new PacketOverrun("an array beyond the packet");
        }
        int to = op.at >= 0 ? payload.span(op.at, size, size * count) : -1;
        for (long i = 0; i < count; i++) {
            int bits = (int) op.bits;
            long at = base + take(element.mask, bits);
            long value = shaped(element, BitReader.read(memory, at, bits, op.bigEndian), bits);
            if (element.slot >= 0) {
                slots[element.slot] = value;
            }
            if (to >= 0) {
                payload.raw(to + (int) i * size, size, value);
            }
        }
    }

    private void variant(ReadOp op) throws PacketOverrun {
        int choice = op.choice(slots[op.selector]);
        if (op.at >= 0) {
            payload.put(op.at, 2, choice + 1);
        }
        if (choice >= 0) {
            run(op.options[choice]);
        } else if (op.count < 0) {
            throw new PacketOverrun("a variant whose selector matches no option");
        }
    }

    private final ValueWriter writer = new ValueWriter();

    private void values(ReadOp op) throws PacketOverrun {
        FieldNode node = op.node;
        if (node == null) {
            throw new IllegalStateException("no array");
        }
        writer.clear();
        elements(node, count(op));
        if (op.at >= 0) {
            byte[] json = writer.json(node);
            int to = payload.span(op.at, 1, json.length);
            System.arraycopy(json, 0, payload.bytes, to, json.length);
            int from = payload.span(node.valuesAt, 8, writer.size());
            writer.copyTo(payload.bytes, from);
        }
    }

    private void elements(FieldNode array, long count) throws PacketOverrun {
        FieldNode element = array.children.get(0);
        take(array.type.alignment() - 1, 0);
        long least = element.type.leastBits();
        long most = least == 0 ? 1 << 16 : (end - position) / least;
        if (count < 0 || count > most) {
            throw new PacketOverrun("an array of more elements than the packet has");
        }
        writer.count((int) count);
        for (long i = 0; i < count; i++) {
            value(element);
        }
    }

    /** Reads a field that lies in an array, by its class. */
    private void value(FieldNode node) throws PacketOverrun {
        switch (node.type) {
            case StructureClass structure -> {
                take(structure.alignment() - 1, 0);
                for (FieldNode child : node.children) {
                    value(child);
                }
            }
            case FieldClass.Array array -> elements(node, length(array.length(), node));
            case VariantClass variant -> option(node, true);
            case FieldClass.Optional optional -> option(node, false);
            case BitField bits -> {
                long at = base + take(bits.alignment() - 1, bits.bits());
                ReadOp op = DecodeSteps.single(node);
                long raw = BitReader.read(memory, at, bits.bits(), bits.bigEndian());
                number(node, shaped(op, raw, bits.bits()));
            }
            case FieldClass.VariableInteger variable -> {
                leb(variable.signed());
                number(node, leb);
            }
            case FieldClass.WideInteger wide -> writer.bytes(digits(node));
            case FieldClass.Real real -> writer.real(real(DecodeSteps.single(node)));
            case TextClass text -> {
                long at = (base + take(7, 0)) >>> 3;
                byte[] value = octets(text, node, at);
                writer.bytes(value);
            }
            case FieldClass.Blob blob -> {
                long count = length(blob.length(), node);
                if (count < 0 || count > 1 << 26) {
                    throw new PacketOverrun("a length beyond the packet");
                }
                long at = (base + take(7, 8 * count)) >>> 3;
                writer.bytes(memory.asSlice(at, count).toArray(ValueLayout.JAVA_BYTE));
            }
        }
    }

    private byte[] octets(TextClass text, FieldNode node, long at) throws PacketOverrun {
        boolean terminated = text.length() instanceof FieldLength.Terminated;
        long last = (base + end) >>> 3;
        if (!terminated) {
            long count = length(text.length(), node);
            if (count < 0 || count > 1 << 26) {
                throw new PacketOverrun("a length beyond the packet");
            }
            take(7, 8 * count);
            last = at + count;
        }
        int unit = text.unitBytes();
        long nul = unit == 1 ? NulSearch.find(memory, at, last) : wide(at, last, unit);
        if (terminated) {
            if (nul < 0) {
                throw new PacketOverrun("a text without its NUL");
            }
            take(7, 8 * (nul + unit - at));
        }
        return recoded(text.encoding(), at, (nul < 0 ? last : nul) - at);
    }

    private void number(FieldNode node, long value) throws PacketOverrun {
        if (node.slot >= 0) {
            slots[node.slot] = value;
        }
        writer.integer(value);
    }

    private long length(FieldLength length, FieldNode node) {
        return length instanceof FieldLength.Fixed fixed ? fixed.count() : slots[node.selector];
    }

    private void option(FieldNode node, boolean must) throws PacketOverrun {
        int choice = DecodeSteps.single(node).choice(slots[node.selector]);
        writer.choice(choice);
        if (choice >= 0) {
            value(node.children.get(choice));
        } else if (must) {
            throw new PacketOverrun("a variant whose selector matches no option");
        }
    }
}
