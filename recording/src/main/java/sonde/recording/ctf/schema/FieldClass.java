package sonde.recording.ctf.schema;

import java.nio.charset.Charset;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How a field lies in a packet: the union of what TSDL (CTF 1.8.3, section 4) and CTF2-SPEC-2.0,
 * section 5.3, can say. Alignments and sizes are in bits, alignments count from the packet's start.
 */
public sealed interface FieldClass {
    /** Alignment of the first bit; a power of two. */
    long alignment();

    /** Fewest bits a field of this class has, without padding. */
    long leastBits();

    /** What the bits of a fixed-length field mean. */
    enum BitMeaning {
        /** An integer, perhaps with names for values: an enumeration. */
        INTEGER,
        /** A TSDL {@code enum}, or an integer with mappings: shown with its labels. */
        ENUMERATION,
        /** True when any bit is set. */
        BOOLEAN,
        /** Bits without the meaning of a number. */
        BITS,
        /** Bits with names for them: mappings are ranges of bit indexes. */
        BIT_MAP,
    }

    /**
     * An integer, enumeration, boolean or bit array of 1 to 64 bits.
     *
     * @param reversed whether the bit order is not the one that goes with the byte order
     * @param base in which it is shown: 2, 8, 10 or 16
     * @param character whether an array of them is text (TSDL {@code encoding})
     * @param clock TSDL's clock that it is a sample of; null for none
     */
    record BitField(
            int bits,
            long alignment,
            boolean bigEndian,
            boolean reversed,
            boolean signed,
            BitMeaning meaning,
            int base,
            boolean character,
            List<LabelRanges> mappings,
            Set<FieldRole> roles,
            @Nullable String clock)
            implements FieldClass {
        public BitField {
            mappings = List.copyOf(mappings);
            roles = Set.copyOf(roles);
        }

        @Override
        public long leastBits() {
            return bits;
        }

        /** An unsigned integer as TSDL and CTF 2 have most. */
        public static BitField unsigned(int bits, long alignment, boolean bigEndian) {
            return new BitField(
                    bits,
                    alignment,
                    bigEndian,
                    false,
                    false,
                    BitMeaning.INTEGER,
                    10,
                    false,
                    List.of(),
                    Set.of(),
                    null);
        }
    }

    /** An LEB128 integer; its value must fit 64 bits. */
    record VariableInteger(
            boolean signed, int base, List<LabelRanges> mappings, Set<FieldRole> roles)
            implements FieldClass {
        public VariableInteger {
            mappings = List.copyOf(mappings);
            roles = Set.copyOf(roles);
        }

        @Override
        public long alignment() {
            return 8;
        }

        @Override
        public long leastBits() {
            return 8;
        }
    }

    /**
     * An integer or bit array of 65 to {@link #MOST_BITS} bits; it becomes text.
     *
     * @param base in which it is shown: 2, 8, 10 or 16
     */
    record WideInteger(
            int bits, long alignment, boolean bigEndian, boolean reversed, boolean signed, int base)
            implements FieldClass {
        /** No more are read. */
        public static final int MOST_BITS = 4096;

        @Override
        public long leastBits() {
            return bits;
        }
    }

    /** An IEEE 754 binary16, 32, 64 or 128 number. */
    record Real(int bits, long alignment, boolean bigEndian, boolean reversed)
            implements FieldClass {
        @Override
        public long leastBits() {
            return bits;
        }
    }

    /** Text up to its NUL. */
    record TextClass(Charset encoding, int unitBytes, FieldLength length) implements FieldClass {
        @Override
        public long alignment() {
            return 8;
        }

        @Override
        public long leastBits() {
            return length instanceof FieldLength.Fixed fixed
                    ? 8 * fixed.count()
                    : length instanceof FieldLength.Terminated ? 8L * unitBytes : 0;
        }
    }

    /** Bytes of any meaning. */
    record Blob(FieldLength length, Set<FieldRole> roles) implements FieldClass {
        public Blob {
            roles = Set.copyOf(roles);
        }

        @Override
        public long alignment() {
            return 8;
        }

        @Override
        public long leastBits() {
            return length instanceof FieldLength.Fixed fixed ? 8 * fixed.count() : 0;
        }
    }

    /**
     * Members one behind the other.
     *
     * @param alignment the largest of its own and its members'
     */
    record StructureClass(List<Member> members, long alignment, long leastBits)
            implements FieldClass {
        /** With the alignment that its members give it, or a larger one. */
        public static StructureClass of(List<Member> members, long minimumAlignment) {
            long alignment = minimumAlignment;
            long bits = 0;
            for (Member member : members) {
                alignment = Math.max(alignment, member.type().alignment());
                bits = SaturatedArithmetic.add(bits, member.type().leastBits());
            }
            return new StructureClass(List.copyOf(members), alignment, bits);
        }
    }

    /** A named part of a structure. */
    record Member(String name, FieldClass type) {}

    /** Elements one behind the other; aligned even when there are none. */
    record Array(FieldClass element, FieldLength length, long alignment, long leastBits)
            implements FieldClass {
        /** With the alignment that its element gives it, or a larger one. */
        public static Array of(FieldClass element, FieldLength length, long minimumAlignment) {
            long bits =
                    length instanceof FieldLength.Fixed fixed
                            ? SaturatedArithmetic.multiply(element.leastBits(), fixed.count())
                            : 0;
            long alignment = Math.max(minimumAlignment, element.alignment());
            return new Array(element, length, alignment, bits);
        }
    }

    /** One of several classes, chosen by an earlier field. */
    record VariantClass(FieldLocation selector, List<VariantOption> options) implements FieldClass {
        public VariantClass {
            options = List.copyOf(options);
        }

        @Override
        public long alignment() {
            return 1;
        }

        @Override
        public long leastBits() {
            return 0;
        }
    }

    /**
     * A choice of a variant.
     *
     * @param ranges values of the selector that choose it; null where TSDL chooses by label
     */
    record VariantOption(String name, @Nullable List<ValueRange> ranges, FieldClass type) {}

    /**
     * A class or nothing, chosen by an earlier field.
     *
     * @param ranges values of the selector that switch it on; null for a boolean selector
     */
    record Optional(FieldLocation selector, @Nullable List<ValueRange> ranges, FieldClass type)
            implements FieldClass {
        @Override
        public long alignment() {
            return 1;
        }

        @Override
        public long leastBits() {
            return 0;
        }
    }
}
