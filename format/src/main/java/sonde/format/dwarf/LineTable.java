package sonde.format.dwarf;

import java.util.List;
import java.util.OptionalLong;
import sonde.format.MalformedInputException;
import sonde.format.dwarf.location.EntryUnit;
import sonde.format.dwarf.location.LineRows;
import sonde.format.elf.ElfFile;

/** Which lines of which files a unit's instructions come from (DWARF 5, 6.2). */
public final class LineTable {
    private final EntryUnit unit;
    private final ElfFile elf;
    private final List<String> files;

    LineTable(EntryUnit unit, ElfFile elf) throws MalformedInputException {
        this.unit = unit;
        this.elf = elf;
        files = LineRows.files(unit);
    }

    /** The files it speaks of, with their folders. */
    public List<String> files() {
        return files;
    }

    /**
     * The lowest address of a line.
     *
     * @param path one of {@link #files}
     * @param column 0 for any
     * @return as stated in the ELF; empty for none
     */
    public OptionalLong address(String path, int line, int column) throws MalformedInputException {
        LineRows rows = LineRows.of(unit);
        OptionalLong lowest = OptionalLong.empty();
        boolean isLinked = false;
        for (int i = 0; i < rows.count(); i++) {
            isLinked = i == 0 || rows.isEnd(i - 1) ? elf.isCode(rows.address(i)) : isLinked;
            boolean fits =
                    isLinked
                            && rows.line(i) == line
                            && !rows.isEnd(i)
                            && (column == 0 || rows.column(i) == column)
                            && rows.file(i).equals(path);
            long address = rows.address(i);
            if (fits
                    && (lowest.isEmpty()
                            || Long.compareUnsigned(address, lowest.getAsLong()) < 0)) {
                lowest = OptionalLong.of(address);
            }
        }
        return lowest;
    }
}
