package sonde.format.dwarf;

import org.jspecify.annotations.Nullable;

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
    public static final int MEMBER = 0x0d;
    public static final int POINTER_TYPE = 0x0f;
    public static final int REFERENCE_TYPE = 0x10;
    public static final int STRUCTURE_TYPE = 0x13;
    public static final int SUBROUTINE_TYPE = 0x15;
    public static final int TYPEDEF = 0x16;
    public static final int UNION_TYPE = 0x17;
    public static final int UNSPECIFIED_PARAMETERS = 0x18;
    public static final int INHERITANCE = 0x1c;
    public static final int SUBRANGE_TYPE = 0x21;
    public static final int BASE_TYPE = 0x24;
    public static final int CONST_TYPE = 0x26;
    public static final int ENUMERATOR = 0x28;
    public static final int SUBPROGRAM = 0x2e;
    public static final int VOLATILE_TYPE = 0x35;
    public static final int RESTRICT_TYPE = 0x37;
    public static final int NAMESPACE = 0x39;
    public static final int RVALUE_REFERENCE_TYPE = 0x42;
    public static final int ATOMIC_TYPE = 0x47;

    final Unit unit;
    final long offset;
    final int tag;
    final boolean hasChildren;
    long next;
    long sibling = NONE;

    /** Form and value; 0 for no form. */
    int nameForm;

    long name;
    int linkageForm;
    long linkageName;
    int dwoForm;
    long dwoName;
    int folderForm;
    long folder;

    int typeForm;
    long type;
    int originForm;
    long origin;
    int signatureForm;
    long signature;

    boolean declaration;
    long sizeBytes = NONE;
    long bits = NONE;
    long bitOffset = NONE;
    long dataBitOffset = NONE;
    long location = NONE;
    long encoding = NONE;
    long upperBound = NONE;
    long count = NONE;
    long constant = NONE;
    long stringOffsets = NONE;
    long lines = NONE;

    Die(Unit unit, long offset, int tag, boolean hasChildren) {
        this.unit = unit;
        this.offset = offset;
        this.tag = tag;
        this.hasChildren = hasChildren;
    }

    /** DW_TAG_*. */
    public int tag() {
        return tag;
    }

    /** Whether it stands for something that is defined elsewhere. */
    public boolean isDeclaration() {
        return declaration;
    }

    /** DW_AT_byte_size. */
    public long sizeBytes() {
        return sizeBytes;
    }

    /** DW_AT_bit_size. */
    public long bits() {
        return bits;
    }

    /** DW_AT_bit_offset, from the highest bit of the storage (DWARF 2 and 3). */
    public long bitOffset() {
        return bitOffset;
    }

    /** DW_AT_data_bit_offset, from the start of what contains it. */
    public long dataBitOffset() {
        return dataBitOffset;
    }

    /** DW_AT_data_member_location, in bytes. */
    public long location() {
        return location;
    }

    /** DW_AT_encoding, DW_ATE_*. */
    public long encoding() {
        return encoding;
    }

    /** DW_AT_const_value. */
    public long constant() {
        return constant;
    }

    /** How many elements a dimension of an array has; 0 where that is not said. */
    public long elements() {
        if (count != NONE) {
            return count;
        }
        // C gives -1 as an unsigned number for [].
        return upperBound == NONE || upperBound == -1 || upperBound == 0xffff_ffffL
                ? 0
                : upperBound + 1;
    }

    /** Whether both are the same entry of one file. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Die that
                && offset == that.offset
                && unit.types() == that.unit.types();
    }

    @Override
    public int hashCode() {
        return Long.hashCode(offset);
    }
}
