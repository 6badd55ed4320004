package sonde.binary.dwarf.location;

/** DW_AT_*: what is said of entries (DWARF 5, table 7.5), as far as this package asks for it. */
public final class DwarfAttribute {
    public static final int SIBLING = 0x01;
    public static final int LOCATION = 0x02;
    public static final int NAME = 0x03;
    public static final int BYTE_SIZE = 0x0b;
    public static final int BIT_OFFSET = 0x0c;
    public static final int BIT_SIZE = 0x0d;
    public static final int STMT_LIST = 0x10;
    public static final int LOW_PC = 0x11;
    public static final int HIGH_PC = 0x12;
    public static final int LANGUAGE = 0x13;
    public static final int DISCR_VALUE = 0x16;
    public static final int COMP_DIR = 0x1b;
    public static final int CONST_VALUE = 0x1c;
    public static final int CONTAINING_TYPE = 0x1d;
    public static final int INLINE = 0x20;
    public static final int PRODUCER = 0x25;
    public static final int UPPER_BOUND = 0x2f;
    public static final int ABSTRACT_ORIGIN = 0x31;
    public static final int ARTIFICIAL = 0x34;
    public static final int CALLING_CONVENTION = 0x36;
    public static final int COUNT = 0x37;
    public static final int DATA_MEMBER_LOCATION = 0x38;
    public static final int DECL_FILE = 0x3a;
    public static final int DECL_LINE = 0x3b;
    public static final int DECLARATION = 0x3c;
    public static final int ENCODING = 0x3e;
    public static final int EXTERNAL = 0x3f;
    public static final int FRAME_BASE = 0x40;
    public static final int SPECIFICATION = 0x47;
    public static final int TYPE = 0x49;
    public static final int VIRTUALITY = 0x4c;
    public static final int ENTRY_PC = 0x52;
    public static final int RANGES = 0x55;
    public static final int CALL_COLUMN = 0x57;
    public static final int CALL_FILE = 0x58;
    public static final int CALL_LINE = 0x59;
    public static final int OBJECT_POINTER = 0x64;
    public static final int SIGNATURE = 0x69;
    public static final int DATA_BIT_OFFSET = 0x6b;
    public static final int LINKAGE_NAME = 0x6e;
    public static final int STR_OFFSETS_BASE = 0x72;
    public static final int ADDR_BASE = 0x73;
    public static final int RNGLISTS_BASE = 0x74;
    public static final int DWO_NAME = 0x76;
    public static final int ALIGNMENT = 0x88;
    public static final int DELETED = 0x8a;
    public static final int DEFAULTED = 0x8b;
    public static final int LOCLISTS_BASE = 0x8c;
    public static final int MIPS_LINKAGE_NAME = 0x2007;
    public static final int GNU_VECTOR = 0x2107;
    public static final int GNU_DWO_NAME = 0x2130;
    public static final int GNU_DWO_ID = 0x2131;
    public static final int GNU_RANGES_BASE = 0x2132;
    public static final int GNU_ADDR_BASE = 0x2133;
    public static final int GNU_LOCVIEWS = 0x2137;

    private DwarfAttribute() {}
}
