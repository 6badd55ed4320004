package sonde.recording.ftrace;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.recording.ftrace.PrintExpression.BinaryExpression;
import sonde.recording.ftrace.PrintExpression.ConstantExpression;
import sonde.recording.ftrace.PrintExpression.NumberExpression;
import sonde.recording.ftrace.PrintExpression.PrintOperator;

/**
 * A struct or union of at most eight bytes, kept as one number: members are bits of it. Bit-fields
 * are laid out as the System V ABIs of Linux do, from the low end on little-endian machines and
 * from the high end on the others.
 */
final class PackedStruct {
    private static final int MOST_BYTES = 8;
    private static final int MOST_MEMBERS = 256;

    private final boolean union;
    private final Map<String, BitMember> members = new HashMap<>();
    private int nextBit;
    private int bits;
    private int alignmentBits = 8;

    /** Bits of the whole, counted from its first byte. */
    private record BitMember(int offset, int bits, boolean signed) {}

    PackedStruct(boolean union) {
        this.union = union;
    }

    /**
     * Adds a member.
     *
     * @param fieldBits of a bit-field, -1 for a whole integer
     */
    void add(String name, CIntegerType type, int fieldBits) throws UnsupportedPrintException {
        int unit = type.sizeBytes() * 8;
        int wide = fieldBits < 0 ? unit : Math.min(fieldBits, unit);
        int start = union ? 0 : nextBit;
        boolean crosses = wide > 0 && start / unit != (start + wide - 1) / unit;
        if (fieldBits <= 0 || crosses) {
            start = aligned(start, unit);
        }
        put(name, new BitMember(start, wide, !type.unsigned()), unit);
    }

    /** Adds the members of a struct or union without a name, or with one of its own. */
    void add(@Nullable String name, PackedStruct inner) throws UnsupportedPrintException {
        int start = union ? 0 : aligned(nextBit, inner.alignmentBits);
        int size = inner.sizeBits();
        if (name != null) {
            put(name, new BitMember(start, size, false), inner.alignmentBits);
            return;
        }
        for (Map.Entry<String, BitMember> entry : inner.members.entrySet()) {
            BitMember member = entry.getValue();
            put(
                    entry.getKey(),
                    new BitMember(start + member.offset, member.bits, member.signed),
                    inner.alignmentBits);
        }
        nextBit = union ? 0 : start + size;
        bits = Math.max(bits, start + size);
    }

    private void put(String name, BitMember member, int alignment)
            throws UnsupportedPrintException {
        int end = member.offset + member.bits;
        if (end > MOST_BYTES * 8 || members.size() == MOST_MEMBERS) {
            throw PrintParser.unsupported("a struct of more than 8 bytes");
        }
        if (member.bits > 0) {
            members.put(name, member);
        }
        alignmentBits = Math.max(alignmentBits, alignment);
        nextBit = union ? 0 : end;
        bits = Math.max(bits, end);
    }

    private static int aligned(int bit, int unit) {
        return (bit + unit - 1) / unit * unit;
    }

    private int sizeBits() {
        return aligned(bits, alignmentBits);
    }

    /** A member of the whole. */
    NumberExpression of(NumberExpression all, String name, boolean bigEndian)
            throws UnsupportedPrintException {
        BitMember member = member(name);
        int sizeBytes = member.bits > 32 ? 8 : 4;
        CIntegerType type = new CIntegerType(sizeBytes, !member.signed);
        NumberExpression moved =
                shifted(all, PrintOperator.LEFT, 64 - shift(member, bigEndian) - member.bits);
        // From the top of 64 bits down again: the sign comes along where there is one.
        int down = 64 - member.bits;
        NumberExpression amount = new ConstantExpression(down, CIntegerType.INT);
        return PrintParser.cast(
                new BinaryExpression(
                        PrintOperator.RIGHT, moved, amount, CIntegerType.LONG_LONG, !member.signed),
                type);
    }

    /** The whole with a member replaced. */
    NumberExpression with(
            NumberExpression all, String name, NumberExpression value, boolean bigEndian)
            throws UnsupportedPrintException {
        BitMember member = member(name);
        int shift = shift(member, bigEndian);
        long mask = (member.bits == 64 ? -1 : (1L << member.bits) - 1);
        CIntegerType wide = CIntegerType.UNSIGNED_LONG_LONG;
        NumberExpression kept =
                PrintParser.joined(
                        PrintOperator.BIT_AND, all, new ConstantExpression(~(mask << shift), wide));
        NumberExpression bitsOfIt =
                PrintParser.joined(
                        PrintOperator.BIT_AND, value, new ConstantExpression(mask, wide));
        return PrintParser.joined(
                PrintOperator.BIT_OR, kept, shifted(bitsOfIt, PrintOperator.LEFT, shift));
    }

    private static NumberExpression shifted(
            NumberExpression value, PrintOperator operator, int count) {
        NumberExpression wide = PrintParser.cast(value, CIntegerType.UNSIGNED_LONG_LONG);
        return count == 0
                ? wide
                : PrintParser.joined(
                        operator, wide, new ConstantExpression(count, CIntegerType.INT));
    }

    private int shift(BitMember member, boolean bigEndian) {
        return bigEndian ? sizeBits() - member.offset - member.bits : member.offset;
    }

    private BitMember member(String name) throws UnsupportedPrintException {
        BitMember member = members.get(name);
        if (member == null) {
            throw PrintParser.unsupported("no member " + name);
        }
        return member;
    }
}
