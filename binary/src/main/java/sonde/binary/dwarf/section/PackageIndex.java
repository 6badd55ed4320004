package sonde.binary.dwarf.section;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sonde.binary.MalformedInputException;

/**
 * {@code .debug_cu_index} or {@code .debug_tu_index} of a {@code .dwp} file: which part of each
 * section belongs to a unit (DWARF 5, 7.3.5; version 2 is GNU's for DWARF 4).
 */
public final class PackageIndex {
    // DW_SECT_*, the same in both versions as far as they are here
    public static final int INFO = 1;

    /** A section that only version 2 has. */
    public static final int TYPES = 2;

    public static final int ABBREV = 3;
    public static final int LINE = 4;

    /** DW_SECT_LOCLISTS of version 5, DW_SECT_LOC of version 2. */
    public static final int LOCATIONS = 5;

    public static final int STR_OFFSETS = 6;

    /** DW_SECT_RNGLISTS of version 5; the same number is DW_SECT_MACRO of version 2. */
    public static final int RNGLISTS = 8;

    private static final int MOST_COLUMNS = 16;
    private static final int WINDOW = 1 << 12;

    private final SectionCursor cursor;
    private final Map<Long, Integer> rows = new HashMap<>();
    private int version;
    private int columns;
    private long units;
    private int[] kinds = {};
    private long table;

    /**
     * Reads the bytes of its section; without rows when there are none.
     *
     * @throws MalformedInputException of a version that is not known, or cut
     */
    public PackageIndex(MemorySegment index, boolean big) throws MalformedInputException {
        cursor = new SectionCursor(index, big, WINDOW);
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
        if (units == 0) {
            // GNU's dwp says nothing of columns then.
            return;
        }
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

    /** 2 or 5; 0 where there is no index. */
    public int version() {
        return version;
    }

    /** The row of a unit: DW_AT_dwo_id, or a type's signature; 0 when it is not here. */
    public int row(long id) {
        return rows.getOrDefault(id, 0);
    }

    /** What it has rows for. */
    public List<Long> ids() {
        return new ArrayList<>(rows.keySet());
    }

    /**
     * The part of a section that belongs to a row; empty when it has none there.
     *
     * @throws MalformedInputException when the part lies outside of the section
     */
    public MemorySegment part(MemorySegment section, int kind, int row)
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
