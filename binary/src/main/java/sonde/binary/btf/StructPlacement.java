package sonde.binary.btf;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.BtfType.Member;
import sonde.binary.btf.BtfType.Struct;

/**
 * How a C compiler for x86-64 and arm64 (the same rules, System V and AAPCS64) places members, and
 * what has to be written so that it places them where the types say.
 */
final class StructPlacement {
    /** More than a page and its alignment, in bits. */
    private static final long MOST_GAP_BITS = 1 << 22;

    private final Btf btf;
    private final Map<Integer, Integer> alignments = new HashMap<>();

    StructPlacement(Btf btf) {
        this.btf = btf;
    }

    /**
     * Where a member lies.
     *
     * @param startBit first bit
     * @param endBit the bit behind it
     * @param alignBits what a compiler would align it to by itself
     */
    record MemberPlacement(long startBit, long endBit, long alignBits) {}

    MemberPlacement place(Member member, boolean packed) throws MalformedInputException {
        long start = member.bitOffset() & 0xffff_ffffL;
        long bits = member.bits();
        if (bits == 0) {
            bits = 8 * btf.sizeBytes(member.type()).orElse(0);
        }
        long align = packed || member.bits() > 0 ? 1 : 8L * align(member.type());
        return new MemberPlacement(start, start + bits, align);
    }

    /** Natural alignment in bytes. */
    int align(int id) throws MalformedInputException {
        int at = btf.skipModifiers(id);
        Integer known = alignments.get(at);
        if (known != null) {
            if (known == 0) {
                throw new MalformedInputException("BTF", "type " + id, -1, "contains itself");
            }
            return known;
        }
        alignments.put(at, 0);
        int align =
                switch (btf.type(at)) {
                    case BtfType.Int one -> power(one.sizeBytes());
                    case BtfType.Float one -> power(one.sizeBytes());
                    case BtfType.Enum one -> power(one.sizeBytes());
                    case BtfType.Ptr _ -> 8;
                    case BtfType.Array array -> align(array.type());
                    case Struct struct -> isPacked(struct) ? 1 : most(struct);
                    case BtfType _ -> 1;
                };
        alignments.put(at, align);
        return align;
    }

    private int most(Struct struct) throws MalformedInputException {
        int most = 1;
        for (Member member : struct.members()) {
            most = Math.max(most, align(member.type()));
        }
        return most;
    }

    /** Alignment of a scalar of that size: 16 at most. */
    private static int power(int sizeBytes) {
        return Math.clamp(Integer.highestOneBit(Math.max(1, sizeBytes)), 1, 16);
    }

    /** Whether some member, or the size, is not where alignment would put it. */
    boolean isPacked(Struct struct) throws MalformedInputException {
        int most = 1;
        for (Member member : struct.members()) {
            int align = align(member.type());
            long offset = member.bitOffset() & 0xffff_ffffL;
            if (member.bits() == 0) {
                if (offset % (8L * align) != 0) {
                    return true;
                }
                most = Math.max(most, align);
            } else {
                long size = 8 * btf.sizeBytes(member.type()).orElse(1);
                // An unpacked bitfield never crosses a unit of its type.
                if (size > 0 && offset / size != (offset + member.bits() - 1) / size) {
                    return true;
                }
                most = Math.max(most, align);
            }
        }
        return struct.sizeBytes() % most != 0;
    }

    /** Members without name that move the next one to its place. */
    List<String> gap(long endBit, MemberPlacement place, Member member)
            throws MalformedInputException {
        List<String> gaps = new ArrayList<>();
        long align = place.alignBits();
        long natural = (endBit + align - 1) / align * align;
        if (place.startBit() <= endBit || natural == place.startBit() && member.bits() == 0) {
            return gaps;
        }
        fill(gaps, endBit, place.startBit());
        return gaps;
    }

    /** Members without name up to the end of the structure. */
    List<String> tail(Struct struct, long endBit, boolean packed) throws MalformedInputException {
        List<String> gaps = new ArrayList<>();
        if (struct.isUnion() || struct.members().isEmpty()) {
            return gaps;
        }
        long end = 8L * struct.sizeBytes();
        long align = packed ? 1 : most(struct);
        long natural = (endBit + 8 * align - 1) / (8 * align) * 8 * align;
        if (natural < end) {
            fill(gaps, endBit, end);
        }
        return gaps;
    }

    /** Bitfields without name: up to the next unit, then whole longs. */
    private static void fill(List<String> gaps, long from, long to) throws MalformedInputException {
        if (to - from > MOST_GAP_BITS) {
            throw new MalformedInputException("BTF", "member", -1, "a gap of " + (to - from));
        }
        long at = from;
        while (at < to) {
            int unit = 64;
            while (unit > 8 && (at % unit + Math.min(unit, to - at) > unit || to - at < unit)) {
                unit /= 2;
            }
            long bits = Math.min(to - at, unit - at % unit);
            String type =
                    switch (unit) {
                        case 64 -> "long";
                        case 32 -> "int";
                        case 16 -> "short";
                        default -> "char";
                    };
            gaps.add(type + ": " + bits);
            at += bits;
        }
    }
}
