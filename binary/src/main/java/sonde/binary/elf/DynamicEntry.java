package sonde.binary.elf;

/**
 * An entry of the dynamic section (gABI chapter 5, "Dynamic Section").
 *
 * @param tag DT_*
 * @param value number or address, by tag; an offset in the string table for those of names
 */
public record DynamicEntry(long tag, long value) {
    public static final long DT_NEEDED = 1;
    public static final long DT_PLTRELSZ = 2;
    public static final long DT_STRTAB = 5;
    public static final long DT_SYMTAB = 6;
    public static final long DT_STRSZ = 10;
    public static final long DT_SONAME = 14;
    public static final long DT_RPATH = 15;
    public static final long DT_PLTREL = 20;
    public static final long DT_TEXTREL = 22;
    public static final long DT_BIND_NOW = 24;
    public static final long DT_RUNPATH = 29;
    public static final long DT_FLAGS = 30;
    public static final long DT_FLAGS_1 = 0x6ffffffb;

    /** Flag of DT_FLAGS: all relocations are processed before the program runs. */
    public static final long DF_BIND_NOW = 8;

    /** Flag of DT_FLAGS_1 with the same meaning. */
    public static final long DF_1_NOW = 1;

    /** Flag of DT_FLAGS_1: default folders are not searched. */
    public static final long DF_1_NODEFLIB = 0x800;

    /** Flag of DT_FLAGS_1: an executable that may be loaded anywhere. */
    public static final long DF_1_PIE = 0x08000000;

    /** Whether the value is an offset in the string table. */
    public boolean isText() {
        return tag == DT_NEEDED
                || tag == DT_SONAME
                || tag == DT_RPATH
                || tag == DT_RUNPATH
                || tag == 0x7ffffffdL // DT_AUXILIARY
                || tag == 0x7fffffffL // DT_FILTER
                || tag == 0x6ffffefaL // DT_CONFIG
                || tag == 0x6ffffefbL // DT_DEPAUDIT
                || tag == 0x6ffffefcL; // DT_AUDIT
    }
}
