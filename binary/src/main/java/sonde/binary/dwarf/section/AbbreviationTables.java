package sonde.binary.dwarf.section;

import java.util.concurrent.ConcurrentHashMap;
import sonde.binary.MalformedInputException;

/** The tables of a {@code .debug_abbrev}, each read once. Safe for several threads. */
public final class AbbreviationTables {
    /**
     * Bytes that are read of a section's one: tables of compilers lie behind each other, those of
     * units that differ in the width of numbers are read once for each.
     */
    private static final int MOST_READ = 4;

    private final ConcurrentHashMap<Long, AbbreviationTable> known = new ConcurrentHashMap<>();
    private long readBytes;
    private boolean isSpent;

    /**
     * The table of a unit.
     *
     * @param cursor over the section, of this thread
     * @throws MalformedInputException when it is malformed, or the tables lie over each other
     */
    public AbbreviationTable of(SectionCursor cursor, UnitHeader unit)
            throws MalformedInputException {
        long key = key(unit);
        AbbreviationTable table = known.get(key);
        return table == null ? read(cursor, unit, key) : table;
    }

    private AbbreviationTable read(SectionCursor cursor, UnitHeader unit, long key)
            throws MalformedInputException {
        synchronized (this) {
            if (isSpent) {
                throw cursor.malformed("abbreviations that lie over each other");
            }
        }
        AbbreviationTable read = new AbbreviationTable(cursor, unit);
        synchronized (this) {
            AbbreviationTable first = known.putIfAbsent(key, read);
            if (first != null) {
                return first; // of another thread
            }
            readBytes += read.sizeBytes();
            isSpent = readBytes > MOST_READ * cursor.size();
            return read;
        }
    }

    /** Units whose tables cannot be shared, of one offset, differ in this. */
    private static long key(UnitHeader unit) {
        int sizes = unit.offsetBytes() / 8 << 4 | unit.addressBytes() / 4 << 1;
        return unit.abbreviations() << 8 | sizes | (unit.version() == 2 ? 1 : 0);
    }
}
