package sonde.format.dwarf.code;

import sonde.format.MalformedInputException;

/**
 * Head of a unit of {@code .debug_info} (DWARF 5, 7.5.1).
 *
 * @param offset of it
 * @param first offset of the first entry
 * @param end behind the unit
 * @param offsetBytes 4 or 8: numbers that are offsets
 * @param abbreviations offset of its table
 * @param type DW_UT_*; 1 (compile) before DWARF 5
 * @param id of a skeleton or split unit of DWARF 5, else 0
 */
record UnitHeader(
        long offset,
        long first,
        long end,
        int version,
        int offsetBytes,
        int addressBytes,
        long abbreviations,
        int type,
        long id) {
    static final int COMPILE = 1;
    static final int TYPE = 2;
    static final int PARTIAL = 3;
    static final int SKELETON = 4;
    static final int SPLIT_COMPILE = 5;
    static final int SPLIT_TYPE = 6;

    /** Reads the head at an offset; the cursor is then anywhere. */
    static UnitHeader read(SectionCursor cursor, long offset) throws MalformedInputException {
        cursor.seek(offset);
        long length = cursor.u32();
        int offsetBytes = 4;
        if (length == 0xffff_ffffL) {
            length = cursor.u64();
            offsetBytes = 8;
        }
        long from = cursor.position();
        if (length < 0 || length > cursor.size() - from) {
            throw cursor.malformed("a unit of " + length + " bytes");
        }
        int version = cursor.u16();
        if (version < 2 || version > 5) {
            // Its entries cannot be read, those of the next one can.
            return new UnitHeader(
                    offset, from + length, from + length, version, offsetBytes, 8, 0, TYPE, 0);
        }
        int type = COMPILE;
        int addressBytes = 0;
        if (version >= 5) {
            type = cursor.u8();
            addressBytes = cursor.u8();
        }
        long abbreviations = cursor.unsigned(offsetBytes);
        if (version < 5) {
            addressBytes = cursor.u8();
        }
        if (addressBytes != 8 && addressBytes != 4 && addressBytes != 2 && addressBytes != 1) {
            throw cursor.malformed("addresses of " + addressBytes + " bytes");
        }
        long id = 0;
        switch (type) {
            case TYPE, SPLIT_TYPE -> cursor.skip(8L + offsetBytes); // signature, type offset
            case SKELETON, SPLIT_COMPILE -> id = cursor.u64();
            default -> {}
        }
        long first = cursor.position();
        long end = from + length;
        if (first > end) {
            throw cursor.malformed("a unit of " + length + " bytes");
        }
        return new UnitHeader(
                offset, first, end, version, offsetBytes, addressBytes, abbreviations, type, id);
    }

    boolean isType() {
        return type == TYPE || type == SPLIT_TYPE;
    }
}
