package sonde.format.dwarf.location;

import sonde.format.MalformedInputException;

/** DW_FORM_*: how values of attributes are written (DWARF 5, table 7.6). */
final class Form {
    static final int ADDR = 0x01;
    static final int STRING = 0x08;
    static final int STRP = 0x0e;
    static final int REF_ADDR = 0x10;
    static final int REF_UDATA = 0x15;
    static final int INDIRECT = 0x16;
    static final int SEC_OFFSET = 0x17;
    static final int STRP_SUP = 0x1d;
    static final int LINE_STRP = 0x1f;
    static final int REF_SUP4 = 0x1c;
    static final int REF_SIG8 = 0x20;
    static final int IMPLICIT_CONST = 0x21;
    static final int LOCLISTX = 0x22;
    static final int RNGLISTX = 0x23;
    static final int REF_SUP8 = 0x24;
    static final int GNU_REF_ALT = 0x1f20;
    static final int GNU_STRP_ALT = 0x1f21;

    private Form() {}

    static boolean isBlock(int form) {
        return form == 0x03
                || form == 0x04
                || form == 0x09
                || form == 0x0a
                || form == 0x18
                || form == 0x1e;
    }

    /** An index of {@code .debug_str_offsets}. */
    static boolean isTextIndex(int form) {
        return form == 0x1a || form >= 0x25 && form <= 0x28 || form == 0x1f02;
    }

    /** An index of {@code .debug_addr}. */
    static boolean isAddressIndex(int form) {
        return form == 0x1b || form >= 0x29 && form <= 0x2c || form == 0x1f01;
    }

    static boolean isConstant(int form) {
        return form == 0x05
                || form == 0x06
                || form == 0x07
                || form == 0x0b
                || form == 0x0d
                || form == 0x0f
                || form == IMPLICIT_CONST;
    }

    /** Of this unit's entries. */
    static boolean isLocalReference(int form) {
        return form >= 0x11 && form <= REF_UDATA;
    }

    static boolean isSupplementary(int form) {
        return form == GNU_REF_ALT || form == REF_SUP4 || form == REF_SUP8;
    }

    /**
     * Bytes that every value of a form has.
     *
     * @return -1 for those that differ from value to value
     */
    static int sizeBytes(int form, EntryUnit unit) {
        return switch (form) {
            case ADDR -> unit.addressBytes();
            case 0x0b, 0x0c, 0x11, 0x25, 0x29 -> 1;
            case 0x05, 0x12, 0x26, 0x2a -> 2;
            case 0x27, 0x2b -> 3;
            case 0x06, 0x13, REF_SUP4, 0x28, 0x2c -> 4;
            case 0x07, 0x14, REF_SIG8, REF_SUP8 -> 8;
            case 0x1e -> 16;
            case STRP, SEC_OFFSET, STRP_SUP, LINE_STRP, GNU_REF_ALT, GNU_STRP_ALT ->
                    unit.offsetBytes();
            case REF_ADDR -> unit.version() == 2 ? unit.addressBytes() : unit.offsetBytes();
            case 0x19, IMPLICIT_CONST -> 0;
            default -> -1;
        };
    }

    /** Bytes of a block whose length is read here; the cursor then stands at its start. */
    static long blockBytes(EntryCursor cursor, int form) throws MalformedInputException {
        return switch (form) {
            case 0x03 -> cursor.u16();
            case 0x04 -> cursor.u32();
            case 0x0a -> cursor.u8();
            case 0x1e -> 16;
            default -> cursor.uleb();
        };
    }

    /** Behind a value. */
    static void skip(EntryCursor cursor, int form, EntryUnit unit) throws MalformedInputException {
        int size = sizeBytes(form, unit);
        if (size >= 0) {
            cursor.skip(size);
        } else if (isBlock(form)) {
            cursor.skip(blockBytes(cursor, form));
        } else if (form == STRING) {
            cursor.skipText();
        } else if (form == INDIRECT) {
            skip(cursor, direct(cursor), unit);
        } else {
            value(cursor, form, unit);
        }
    }

    /** The form that stands before the value. */
    static int direct(EntryCursor cursor) throws MalformedInputException {
        int form = (int) cursor.uleb();
        if (form == INDIRECT || form == IMPLICIT_CONST) {
            throw cursor.malformed("a form that leads nowhere");
        }
        return form;
    }

    /** A number; of a text in place where it begins. Blocks are read by their caller. */
    static long value(EntryCursor cursor, int form, EntryUnit unit) throws MalformedInputException {
        int size = sizeBytes(form, unit);
        switch (size) {
            case 1 -> {
                return cursor.u8();
            }
            case 2 -> {
                return cursor.u16();
            }
            case 3 -> {
                return cursor.u24();
            }
            case 4 -> {
                return cursor.u32();
            }
            case 8 -> {
                return cursor.u64();
            }
            case 0 -> {
                return 1; // flag_present
            }
            default -> {}
        }
        return switch (form) {
            case 0x0d -> cursor.sleb();
            case 0x0f, REF_UDATA, 0x1a, 0x1b, LOCLISTX, RNGLISTX, 0x1f01, 0x1f02 -> cursor.uleb();
            case STRING -> {
                long from = cursor.position();
                cursor.skipText();
                yield from;
            }
            default -> throw cursor.malformed("form 0x" + Integer.toHexString(form));
        };
    }
}
