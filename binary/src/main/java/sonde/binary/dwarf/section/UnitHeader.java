package sonde.binary.dwarf.section;

import sonde.binary.MalformedInputException;

/**
 * Head of a unit of {@code .debug_info} or {@code .debug_types} (DWARF 5, 7.5.1).
 *
 * @param offset of it
 * @param first offset of the first entry
 * @param end behind the unit
 * @param offsetBytes 4 or 8: numbers that are offsets
 * @param abbreviations offset of its table
 * @param type DW_UT_*; 1 (compile) before DWARF 5
 * @param id of a skeleton or split unit of DWARF 5; the signature of a type unit; else 0
 * @param typeOffset of a type unit: its type, from the head
 */
public record UnitHeader(
        long offset,
        long first,
        long end,
        int version,
        int offsetBytes,
        int addressBytes,
        long abbreviations,
        int type,
        long id,
        long typeOffset) {
    public static final int COMPILE = 1;
    public static final int TYPE = 2;
    public static final int PARTIAL = 3;
    public static final int SKELETON = 4;
    public static final int SPLIT_COMPILE = 5;
    public static final int SPLIT_TYPE = 6;

    /** Reads the head at an offset of {@code .debug_info}; the cursor is then anywhere. */
    public static UnitHeader read(SectionCursor cursor, long offset)
            throws MalformedInputException {
        return read(cursor, offset, false);
    }

    /**
     * Reads the head at an offset; the cursor is then anywhere.
     *
     * @param types whether the section is {@code .debug_types}
     */
    public static UnitHeader read(SectionCursor cursor, long offset, boolean types)
            throws MalformedInputException {
        cursor.seek(offset);
        long length = cursor.length();
        int offsetBytes = cursor.offsetBytes();
        long from = cursor.position();
        int version = cursor.u16();
        if (version < 2 || version > 5) {
            // Its entries cannot be read, those of the next one can.
            return new UnitHeader(
                    offset, from + length, from + length, version, offsetBytes, 8, 0, TYPE, 0, 0);
        }
        int type = types ? TYPE : COMPILE;
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
        long typeOffset = 0;
        switch (type) {
            case TYPE, SPLIT_TYPE -> {
                id = cursor.u64();
                typeOffset = cursor.unsigned(offsetBytes);
            }
            case SKELETON, SPLIT_COMPILE -> id = cursor.u64();
            default -> {}
        }
        long first = cursor.position();
        long end = from + length;
        if (first > end) {
            throw cursor.malformed("a unit of " + length + " bytes");
        }
        return new UnitHeader(
                offset,
                first,
                end,
                version,
                offsetBytes,
                addressBytes,
                abbreviations,
                type,
                id,
                typeOffset);
    }

    /** Whether its version is one of those whose entries can be read. */
    public boolean isReadable() {
        return version >= 2 && version <= 5;
    }

    public boolean isType() {
        return type == TYPE || type == SPLIT_TYPE;
    }
}
