package sonde.format.dwarf;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import sonde.format.MalformedInputException;

/**
 * A unit of {@code .debug_info} or {@code .debug_types} (DWARF 5, 7.5.1).
 *
 * @param section that it lies in
 * @param types whether that is {@code .debug_types}
 * @param offset of its header
 * @param first offset of its first entry
 * @param end behind it
 * @param offsetBytes 4 or 8: numbers that are offsets
 * @param abbreviations offset of its table
 * @param type of DW_UT_*; 1 (compile) before DWARF 5
 * @param signature of a type unit, else 0
 * @param typeOffset of a type unit: its type, from the header
 */
record Unit(
        MemorySegment section,
        boolean types,
        long offset,
        long first,
        long end,
        int version,
        int offsetBytes,
        int addressBytes,
        long abbreviations,
        int type,
        long signature,
        long typeOffset) {
    static final int COMPILE = 1;
    static final int TYPE = 2;
    static final int SKELETON = 4;
    static final int SPLIT_COMPILE = 5;
    static final int SPLIT_TYPE = 6;

    /** Reads the header at an offset. */
    static Unit read(MemorySegment section, ByteOrder order, long offset, boolean types)
            throws MalformedInputException {
        DwarfCursor cursor = new DwarfCursor(section, order, offset, Long.MAX_VALUE);
        long length = cursor.u32();
        int offsetBytes = 4;
        if (length == 0xffff_ffffL) {
            length = cursor.u64();
            offsetBytes = 8;
        }
        if (length < 0 || length > cursor.remaining()) {
            throw cursor.malformed("a unit of " + length + " bytes");
        }
        long end = cursor.position() + length;
        int version = cursor.u16();
        if (version < 2 || version > 5) {
            throw cursor.malformed("version " + version);
        }
        int type = types ? TYPE : COMPILE;
        int addressBytes = 0;
        if (version >= 5) {
            type = cursor.u8();
            addressBytes = cursor.u8();
        }
        long abbreviations = cursor.offset(offsetBytes);
        if (version < 5) {
            addressBytes = cursor.u8();
        }
        long signature = 0;
        long typeOffset = 0;
        switch (type) {
            case TYPE, SPLIT_TYPE -> {
                signature = cursor.u64();
                typeOffset = cursor.offset(offsetBytes);
            }
            case SKELETON, SPLIT_COMPILE -> cursor.skip(8); // dwo_id
            default -> {}
        }
        return new Unit(
                section,
                types,
                offset,
                cursor.position(),
                end,
                version,
                offsetBytes,
                addressBytes,
                abbreviations,
                type,
                signature,
                typeOffset);
    }

    boolean isType() {
        return type == TYPE || type == SPLIT_TYPE;
    }
}
