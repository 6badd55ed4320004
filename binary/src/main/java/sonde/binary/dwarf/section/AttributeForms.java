package sonde.binary.dwarf.section;

import sonde.binary.MalformedInputException;

/** Values of attributes by their form, DW_FORM_* (DWARF 5, 7.5.5 and 7.5.6). */
public final class AttributeForms {
    public static final int ADDR = 0x01;
    public static final int STRING = 0x08;
    public static final int STRP = 0x0e;
    public static final int REF_ADDR = 0x10;
    public static final int INDIRECT = 0x16;
    public static final int SEC_OFFSET = 0x17;
    public static final int ADDRX = 0x1b;
    public static final int REF_SUP4 = 0x1c;
    public static final int STRP_SUP = 0x1d;
    public static final int DATA16 = 0x1e;
    public static final int LINE_STRP = 0x1f;
    public static final int IMPLICIT_CONST = 0x21;
    public static final int REF_SIG8 = 0x20;
    public static final int LOCLISTX = 0x22;
    public static final int RNGLISTX = 0x23;
    public static final int REF_SUP8 = 0x24;
    public static final int ADDRX1 = 0x29;
    public static final int ADDRX4 = 0x2c;
    public static final int GNU_ADDR_INDEX = 0x1f01;
    public static final int GNU_REF_ALT = 0x1f20;
    public static final int GNU_STRP_ALT = 0x1f21;

    private static final int MOST_HOPS = 4;

    private AttributeForms() {}

    /** Whether a form is an index into {@code .debug_str_offsets}. */
    public static boolean isStringIndex(int form) {
        return form == 0x1a || form >= 0x25 && form <= 0x28 || form == 0x1f02;
    }

    /** Whether a form is an index into {@code .debug_addr}. */
    public static boolean isAddressIndex(int form) {
        return form == ADDRX || form >= ADDRX1 && form <= ADDRX4 || form == GNU_ADDR_INDEX;
    }

    /** Whether a form is an offset from the start of its own unit. */
    public static boolean isLocal(int form) {
        return form >= 0x11 && form <= 0x15;
    }

    /** Whether a form leads to the supplementary file. */
    public static boolean isSupplement(int form) {
        return form == REF_SUP4 || form == REF_SUP8 || form == GNU_REF_ALT;
    }

    /** Whether a form is bytes: a block, an expression, data16. */
    public static boolean isBlock(int form) {
        return switch (form) {
            case 0x03, 0x04, 0x09, 0x0a, 0x18, DATA16 -> true;
            default -> false;
        };
    }

    /** Whether a form is a number that counts from nowhere. */
    public static boolean isConstant(int form) {
        return switch (form) {
            case 0x05, 0x06, 0x07, 0x0b, 0x0d, 0x0f, IMPLICIT_CONST -> true;
            default -> false;
        };
    }

    /** Size in bytes where a form always has the same, else -1. */
    public static int fixedBytes(int form, UnitHeader unit) {
        return switch (form) {
            case ADDR -> unit.addressBytes();
            case 0x0b, 0x0c, 0x11, 0x25, 0x29 -> 1; // data1, flag, ref1, strx1, addrx1
            case 0x05, 0x12, 0x26, 0x2a -> 2; // data2, ref2, strx2, addrx2
            case 0x27, 0x2b -> 3; // strx3, addrx3
            case 0x06, 0x13, 0x1c, 0x28, 0x2c -> 4; // data4, ref4, ref_sup4, strx4, addrx4
            case 0x07, 0x14, REF_SIG8, REF_SUP8 -> 8; // data8, ref8
            case DATA16 -> 16;
            case STRP, LINE_STRP, SEC_OFFSET, STRP_SUP, GNU_REF_ALT, GNU_STRP_ALT ->
                    unit.offsetBytes();
            case REF_ADDR -> unit.version() == 2 ? unit.addressBytes() : unit.offsetBytes();
            case 0x19, IMPLICIT_CONST -> 0; // flag_present
            default -> -1;
        };
    }

    /** The form that stands in the entry itself where the abbreviation has DW_FORM_indirect. */
    public static int direct(SectionCursor cursor, int form) throws MalformedInputException {
        int direct = form;
        for (int hops = 0; direct == INDIRECT; hops++) {
            if (hops == MOST_HOPS) {
                throw cursor.malformed("forms that lead nowhere");
            }
            direct = cursor.smallUleb();
        }
        return direct;
    }

    /** Behind a value. */
    public static void skip(SectionCursor cursor, int stated, UnitHeader unit)
            throws MalformedInputException {
        int form = direct(cursor, stated);
        int fixed = fixedBytes(form, unit);
        if (fixed >= 0) {
            cursor.skip(fixed);
        } else {
            value(cursor, form, 0, unit);
        }
    }

    /** A number, an offset, an index; of a text in place where it begins; 0 of a block. */
    public static long value(SectionCursor cursor, int form, long implicit, UnitHeader unit)
            throws MalformedInputException {
        switch (form) {
            case 0x0d -> {
                return cursor.sleb(); // sdata
            }
            case 0x0f, 0x15, 0x1a, ADDRX, LOCLISTX, RNGLISTX, GNU_ADDR_INDEX, 0x1f02 -> {
                // udata, ref_udata, strx, GNU_str_index
                return cursor.uleb();
            }
            case STRING -> {
                long from = cursor.position();
                cursor.skipText();
                return from;
            }
            case 0x19 -> {
                return 1; // flag_present
            }
            case IMPLICIT_CONST -> {
                return implicit;
            }
            case 0x03, 0x04, 0x0a, 0x09, 0x18, DATA16 -> {
                cursor.skip(blockBytes(cursor, form));
                return 0;
            }
            case INDIRECT -> {
                return value(cursor, direct(cursor, form), 0, unit);
            }
            default -> {
                int fixed = fixedBytes(form, unit);
                if (fixed < 0) {
                    throw cursor.malformed("form 0x" + Integer.toHexString(form));
                }
                return cursor.unsigned(fixed);
            }
        }
    }

    /** Bytes of a block whose length is read here; the cursor then stands at its start. */
    public static long blockBytes(SectionCursor cursor, int form) throws MalformedInputException {
        return switch (form) {
            case 0x03 -> cursor.u16(); // block2
            case 0x04 -> cursor.u32(); // block4
            case 0x0a -> cursor.u8(); // block1
            case DATA16 -> 16;
            default -> cursor.uleb(); // block, exprloc
        };
    }
}
