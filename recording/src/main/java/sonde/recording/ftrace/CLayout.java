package sonde.recording.ftrace;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.recording.ftrace.Expression.Binary;
import sonde.recording.ftrace.Expression.Constant;
import sonde.recording.ftrace.Expression.Operator;
import sonde.recording.ftrace.Expression.Value;

/**
 * A struct or union of at most eight bytes, kept as one number: members are bits of it. Bit-fields
 * are laid out as the System V ABIs of Linux do, from the low end on little-endian machines and
 * from the high end on the others.
 */
final class CLayout {
    private static final int MOST_BYTES = 8;
    private static final int MOST_MEMBERS = 256;

    private final boolean union;
    private final Map<String, Member> members = new HashMap<>();
    private int nextBit;
    private int bits;
    private int alignmentBits = 8;

    /** Bits of the whole, counted from its first byte. */
    private record Member(int offset, int bits, boolean signed) {}

    CLayout(boolean union) {
        this.union = union;
    }

    /**
     * Adds a member.
     *
     * @param fieldBits of a bit-field, -1 for a whole integer
     */
    void add(String name, CType type, int fieldBits) throws UnsupportedPrintException {
        int unit = type.sizeBytes() * 8;
        int wide = fieldBits < 0 ? unit : Math.min(fieldBits, unit);
        int start = union ? 0 : nextBit;
        boolean crosses = wide > 0 && start / unit != (start + wide - 1) / unit;
        if (fieldBits <= 0 || crosses) {
            start = aligned(start, unit);
        }
        put(name, new Member(start, wide, !type.unsigned()), unit);
    }

    /** Adds the members of a struct or union without a name, or with one of its own. */
    void add(@Nullable String name, CLayout inner) throws UnsupportedPrintException {
        int start = union ? 0 : aligned(nextBit, inner.alignmentBits);
        int size = inner.sizeBits();
        if (name != null) {
            put(name, new Member(start, size, false), inner.alignmentBits);
            return;
        }
        for (Map.Entry<String, Member> entry : inner.members.entrySet()) {
            Member member = entry.getValue();
            put(
                    entry.getKey(),
                    new Member(start + member.offset, member.bits, member.signed),
                    inner.alignmentBits);
        }
        nextBit = union ? 0 : start + size;
        bits = Math.max(bits, start + size);
    }

    private void put(String name, Member member, int alignment) throws UnsupportedPrintException {
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
    Value of(Value all, String name, boolean bigEndian) throws UnsupportedPrintException {
        Member member = member(name);
        int sizeBytes = member.bits > 32 ? 8 : 4;
        CType type = new CType(sizeBytes, !member.signed);
        Value moved = shifted(all, Operator.LEFT, 64 - shift(member, bigEndian) - member.bits);
        // From the top of 64 bits down again: the sign comes along where there is one.
        int down = 64 - member.bits;
        Value amount = new Constant(down, CType.INT);
        return PrintParser.cast(
                new Binary(Operator.RIGHT, moved, amount, CType.LONG_LONG, !member.signed), type);
    }

    /** The whole with a member replaced. */
    Value with(Value all, String name, Value value, boolean bigEndian)
            throws UnsupportedPrintException {
        Member member = member(name);
        int shift = shift(member, bigEndian);
        long mask = (member.bits == 64 ? -1 : (1L << member.bits) - 1);
        CType wide = CType.UNSIGNED_LONG_LONG;
        Value kept =
                PrintParser.joined(Operator.BIT_AND, all, new Constant(~(mask << shift), wide));
        Value bitsOfIt = PrintParser.joined(Operator.BIT_AND, value, new Constant(mask, wide));
        return PrintParser.joined(Operator.BIT_OR, kept, shifted(bitsOfIt, Operator.LEFT, shift));
    }

    private static Value shifted(Value value, Operator operator, int count) {
        Value wide = PrintParser.cast(value, CType.UNSIGNED_LONG_LONG);
        return count == 0
                ? wide
                : PrintParser.joined(operator, wide, new Constant(count, CType.INT));
    }

    private int shift(Member member, boolean bigEndian) {
        return bigEndian ? sizeBits() - member.offset - member.bits : member.offset;
    }

    private Member member(String name) throws UnsupportedPrintException {
        Member member = members.get(name);
        if (member == null) {
            throw PrintParser.unsupported("no member " + name);
        }
        return member;
    }
}
