package sonde.format.dwarf;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import sonde.format.MalformedInputException;
import sonde.format.dwarf.location.Attribute;
import sonde.format.dwarf.location.Entry;
import sonde.format.dwarf.section.SectionCursor;

/**
 * A debugging information entry: those of its attributes that tell of functions and types. Numbers
 * that are missing are {@link #NONE}.
 */
public final class Die {
    /** A number that is not there. */
    public static final long NONE = Long.MIN_VALUE;

    public static final int ARRAY_TYPE = 0x01;
    public static final int CLASS_TYPE = 0x02;
    public static final int ENUMERATION_TYPE = 0x04;
    public static final int FORMAL_PARAMETER = 0x05;
    public static final int LEXICAL_BLOCK = 0x0b;
    public static final int MEMBER = 0x0d;
    public static final int POINTER_TYPE = 0x0f;
    public static final int REFERENCE_TYPE = 0x10;
    public static final int STRUCTURE_TYPE = 0x13;
    public static final int SUBROUTINE_TYPE = 0x15;
    public static final int TYPEDEF = 0x16;
    public static final int UNION_TYPE = 0x17;
    public static final int UNSPECIFIED_PARAMETERS = 0x18;
    public static final int VARIANT = 0x19;
    public static final int INHERITANCE = 0x1c;
    public static final int PTR_TO_MEMBER_TYPE = 0x1f;
    public static final int SUBRANGE_TYPE = 0x21;
    public static final int BASE_TYPE = 0x24;
    public static final int CONST_TYPE = 0x26;
    public static final int ENUMERATOR = 0x28;
    public static final int SUBPROGRAM = 0x2e;
    public static final int VARIANT_PART = 0x33;
    public static final int VOLATILE_TYPE = 0x35;
    public static final int RESTRICT_TYPE = 0x37;
    public static final int NAMESPACE = 0x39;
    public static final int UNSPECIFIED_TYPE = 0x3b;
    public static final int RVALUE_REFERENCE_TYPE = 0x42;
    public static final int ATOMIC_TYPE = 0x47;

    /** DW_CC_pass_by_reference. */
    public static final int PASS_BY_REFERENCE = 4;

    /** DW_OP_constu and DW_OP_plus_uconst. */
    private static final int CONSTU = 0x10;

    private static final int PLUS_UCONST = 0x23;

    final Entry entry;

    Die(Entry entry) {
        this.entry = entry;
    }

    /** The entry itself, with all its attributes. */
    public Entry entry() {
        return entry;
    }

    private long number(int attribute) {
        return entry.constant(attribute, NONE);
    }

    /** DW_LANG_* of its unit, 0 when it is not said. */
    public int language() throws MalformedInputException {
        return entry.unit().language();
    }

    /** DW_TAG_*. */
    public int tag() {
        return entry.tag();
    }

    /** Whether it stands for something that is defined elsewhere. */
    public boolean isDeclaration() {
        return entry.flag(Attribute.DECLARATION);
    }

    /** DW_AT_byte_size. */
    public long sizeBytes() {
        return number(Attribute.BYTE_SIZE);
    }

    /** DW_AT_alignment. */
    public long alignment() {
        return number(Attribute.ALIGNMENT);
    }

    /** DW_AT_calling_convention, DW_CC_*. */
    public long callingConvention() {
        return number(Attribute.CALLING_CONVENTION);
    }

    /** Whether the compiler made it: DW_AT_artificial. */
    public boolean isArtificial() {
        return entry.flag(Attribute.ARTIFICIAL);
    }

    /** DW_AT_deleted. */
    public boolean isDeleted() {
        return entry.flag(Attribute.DELETED);
    }

    /** DW_AT_defaulted: DW_DEFAULTED_in_class. */
    public boolean isDefaultedInClass() {
        return number(Attribute.DEFAULTED) == 1;
    }

    /**
     * DW_AT_virtuality: of a function, or of a base class whose place an object tells at run time.
     */
    public boolean isVirtual() {
        return number(Attribute.VIRTUALITY) > 0;
    }

    /** Whether other files may call it: DW_AT_external. */
    public boolean isExternal() throws MalformedInputException {
        return entry.withOwn(Attribute.EXTERNAL) != null;
    }

    /** DW_AT_bit_size. */
    public long bits() {
        return number(Attribute.BIT_SIZE);
    }

    /** DW_AT_bit_offset, from the highest bit of the storage (DWARF 2 and 3). */
    public long bitOffset() {
        return number(Attribute.BIT_OFFSET);
    }

    /** DW_AT_data_bit_offset, from the start of what contains it. */
    public long dataBitOffset() {
        return number(Attribute.DATA_BIT_OFFSET);
    }

    /** DW_AT_data_member_location, in bytes; it may be a program, C's is one addition. */
    public long location() {
        MemorySegment program = entry.block(Attribute.DATA_MEMBER_LOCATION);
        if (program == null) {
            return number(Attribute.DATA_MEMBER_LOCATION);
        }
        try {
            SectionCursor cursor = new SectionCursor(program, false, 16);
            int operation = cursor.hasMore() ? cursor.u8() : 0;
            return operation == PLUS_UCONST || operation == CONSTU ? cursor.uleb() : NONE;
        } catch (MalformedInputException e) {
            return NONE;
        }
    }

    /** DW_AT_discr_value: the discriminant of a variant. */
    public long discriminant() {
        return number(Attribute.DISCR_VALUE);
    }

    /** DW_AT_encoding, DW_ATE_*. */
    public long encoding() {
        return number(Attribute.ENCODING);
    }

    /** DW_AT_const_value. */
    public long constant() {
        return number(Attribute.CONST_VALUE);
    }

    /** How many elements a dimension of an array has; 0 where that is not said. */
    public long elements() {
        long count = number(Attribute.COUNT);
        if (count != NONE) {
            return count;
        }
        long upperBound = number(Attribute.UPPER_BOUND);
        // C gives -1 as an unsigned number for [].
        return upperBound == NONE || upperBound == -1 || upperBound == 0xffff_ffffL
                ? 0
                : upperBound + 1;
    }

    /** Whether both are the same entry of one file. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Die that && entry.equals(that.entry);
    }

    @Override
    public int hashCode() {
        return entry.hashCode();
    }
}
