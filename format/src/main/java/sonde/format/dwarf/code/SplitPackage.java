package sonde.format.dwarf.code;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.format.MalformedInputException;
import sonde.format.dwarf.section.SectionCursor;

/**
 * A {@code .dwp} file: what skeleton units of many objects left out (DWARF 5, 7.3.5; version 2 of
 * its index is GNU's for DWARF 4).
 */
final class SplitPackage {
    private static final int INFO = 1;
    private static final int ABBREV = 3;
    private static final int LINE = 4;
    private static final int STR_OFFSETS = 6;

    /** DW_SECT_RNGLISTS of version 5; the same number is DW_SECT_MACRO of version 2. */
    private static final int RNGLISTS = 8;

    private static final int MOST_COLUMNS = 16;

    private final DwarfSections all;
    private final Map<Long, Integer> rows = new HashMap<>();
    private int version;
    private int columns;
    private long units;
    private int[] kinds = {};
    private long table;
    private final SectionCursor cursor;

    SplitPackage(DwarfSections all) throws MalformedInputException {
        this.all = all;
        cursor = new SectionCursor(all.unitIndex(), all.big(), 1 << 12);
        if (cursor.size() < 16) {
            return;
        }
        // Version 5 is two bytes and padding, version 2 is four bytes.
        version = cursor.u16();
        int other = cursor.u16();
        version = version == 0 ? other : version;
        columns = (int) cursor.u32();
        units = cursor.u32();
        long slots = cursor.u32();
        boolean fits =
                (version == 2 || version == 5)
                        && columns > 0
                        && columns <= MOST_COLUMNS
                        && slots <= cursor.size() / 12
                        && units <= slots;
        if (!fits) {
            throw cursor.malformed("an index of version " + version);
        }
        long hashes = cursor.position();
        for (long slot = 0; slot < slots; slot++) {
            cursor.seek(hashes + 8 * slot);
            long id = cursor.u64();
            cursor.seek(hashes + 8 * slots + 4 * slot);
            int row = (int) cursor.u32();
            if (row > 0 && row <= units) {
                rows.put(id, row);
            }
        }
        kinds = new int[columns];
        cursor.seek(hashes + 12 * slots);
        for (int i = 0; i < columns; i++) {
            kinds[i] = (int) cursor.u32();
        }
        table = cursor.position();
    }

    /** The sections of one unit; null when it is not here. */
    synchronized @Nullable DwarfFile unit(long id) throws MalformedInputException {
        Integer row = rows.get(id);
        if (row == null) {
            return null;
        }
        MemorySegment ranges = all.rangeLists();
        return new DwarfFile(
                all.part(
                        part(all.units(), INFO, row),
                        part(all.abbreviations(), ABBREV, row),
                        part(all.lines(), LINE, row),
                        part(all.stringOffsets(), STR_OFFSETS, row),
                        version == 5 ? part(ranges, RNGLISTS, row) : ranges),
                null);
    }

    private MemorySegment part(MemorySegment section, int kind, int row)
            throws MalformedInputException {
        for (int i = 0; i < columns; i++) {
            if (kinds[i] == kind) {
                cursor.seek(table + 4L * ((row - 1L) * columns + i));
                long offset = cursor.u32();
                cursor.seek(table + 4L * (units * columns + (row - 1L) * columns + i));
                long size = cursor.u32();
                if (offset > section.byteSize() || size > section.byteSize() - offset) {
                    throw cursor.malformed("a part outside its section");
                }
                return section.asSlice(offset, size);
            }
        }
        return section.asSlice(0, 0);
    }
}
