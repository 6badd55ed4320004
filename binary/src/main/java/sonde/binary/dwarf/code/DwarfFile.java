package sonde.binary.dwarf.code;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.AbbreviationTables;
import sonde.binary.dwarf.section.SectionCursor;
import sonde.binary.dwarf.section.UnitHeader;

/** The debugging information of one file, shared by all threads that read it. */
final class DwarfFile {
    private static final int MOST_UNITS = 1 << 23;

    final DwarfSections sections;

    /** What dwz moved out of several files. */
    final @Nullable DwarfFile supplement;

    /** The tables of {@code .debug_abbrev}. */
    final AbbreviationTables tables = new AbbreviationTables();

    private long @Nullable [] unitOffsets;
    private byte[] unitTypes = {};

    DwarfFile(DwarfSections sections, @Nullable DwarfFile supplement) {
        this.sections = sections;
        this.supplement = supplement;
    }

    /** Offsets of all units, ascending; up to where the first malformed one begins. */
    synchronized long[] unitOffsets() {
        long[] known = unitOffsets;
        if (known != null) {
            return known;
        }
        long[] offsets = new long[256];
        byte[] types = new byte[256];
        int count = 0;
        SectionCursor cursor = new SectionCursor(sections.units(), sections.big(), 1 << 12);
        long at = 0;
        while (at < cursor.size() && count < MOST_UNITS) {
            UnitHeader header;
            try {
                header = UnitHeader.read(cursor, at);
            } catch (MalformedInputException e) {
                // Where one ends wrongly nobody knows where the next begins.
                break;
            }
            if (count == offsets.length) {
                offsets = Arrays.copyOf(offsets, 2 * count);
                types = Arrays.copyOf(types, 2 * count);
            }
            offsets[count] = at;
            types[count++] = (byte) header.type();
            at = header.end();
        }
        unitTypes = Arrays.copyOf(types, count);
        known = Arrays.copyOf(offsets, count);
        unitOffsets = known;
        return known;
    }

    /** DW_UT_* of a unit by its index. */
    int unitType(int unit) {
        return unitTypes[unit];
    }

    /** Index of the unit that an offset lies in, -1 for none. */
    int unitAt(long offset) {
        long[] offsets = unitOffsets();
        int at = Arrays.binarySearch(offsets, offset);
        return at >= 0 ? at : -at - 2;
    }
}
