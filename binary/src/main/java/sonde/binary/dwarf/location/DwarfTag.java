package sonde.binary.dwarf.location;

/** DW_TAG_*: kinds of entries (DWARF 5, table 7.3) that functions, variables and types need. */
public final class DwarfTag {
    public static final int ARRAY_TYPE = 0x01;
    public static final int CLASS_TYPE = 0x02;
    public static final int ENUMERATION_TYPE = 0x04;
    public static final int FORMAL_PARAMETER = 0x05;
    public static final int IMPORTED_DECLARATION = 0x08;
    public static final int LEXICAL_BLOCK = 0x0b;
    public static final int MEMBER = 0x0d;
    public static final int POINTER_TYPE = 0x0f;
    public static final int REFERENCE_TYPE = 0x10;
    public static final int COMPILE_UNIT = 0x11;
    public static final int STRUCTURE_TYPE = 0x13;
    public static final int SUBROUTINE_TYPE = 0x15;
    public static final int TYPEDEF = 0x16;
    public static final int UNION_TYPE = 0x17;
    public static final int UNSPECIFIED_PARAMETERS = 0x18;
    public static final int VARIANT = 0x19;
    public static final int INHERITANCE = 0x1c;
    public static final int INLINED_SUBROUTINE = 0x1d;
    public static final int MODULE = 0x1e;
    public static final int PTR_TO_MEMBER_TYPE = 0x1f;
    public static final int SUBRANGE_TYPE = 0x21;
    public static final int BASE_TYPE = 0x24;
    public static final int CATCH_BLOCK = 0x25;
    public static final int CONST_TYPE = 0x26;
    public static final int ENUMERATOR = 0x28;
    public static final int SUBPROGRAM = 0x2e;
    public static final int TRY_BLOCK = 0x32;
    public static final int VARIANT_PART = 0x33;
    public static final int VARIABLE = 0x34;
    public static final int VOLATILE_TYPE = 0x35;
    public static final int RESTRICT_TYPE = 0x37;
    public static final int NAMESPACE = 0x39;
    public static final int UNSPECIFIED_TYPE = 0x3b;
    public static final int PARTIAL_UNIT = 0x3c;
    public static final int IMPORTED_UNIT = 0x3d;
    public static final int RVALUE_REFERENCE_TYPE = 0x42;
    public static final int ATOMIC_TYPE = 0x47;
    public static final int SKELETON_UNIT = 0x4a;

    private DwarfTag() {}

    /** Whether other entries may be looked up inside: name spaces and classes. */
    static boolean isNameScope(int tag) {
        return tag == NAMESPACE
                || tag == STRUCTURE_TYPE
                || tag == CLASS_TYPE
                || tag == UNION_TYPE
                || tag == MODULE;
    }
}
