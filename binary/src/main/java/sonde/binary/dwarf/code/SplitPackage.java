package sonde.binary.dwarf.code;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.PackageIndex;

/** A {@code .dwp} file: what skeleton units of many objects left out (DWARF 5, 7.3.5). */
final class SplitPackage {
    private final DwarfSections all;
    private final PackageIndex index;

    SplitPackage(DwarfSections all) throws MalformedInputException {
        this.all = all;
        index = new PackageIndex(all.unitIndex(), all.big());
    }

    /** The sections of one unit; null when it is not here. */
    synchronized @Nullable DwarfFile unit(long id) throws MalformedInputException {
        int row = index.row(id);
        if (row == 0) {
            return null;
        }
        MemorySegment ranges = all.rangeLists();
        return new DwarfFile(
                all.part(
                        index.part(all.units(), PackageIndex.INFO, row),
                        index.part(all.abbreviations(), PackageIndex.ABBREV, row),
                        index.part(all.lines(), PackageIndex.LINE, row),
                        index.part(all.stringOffsets(), PackageIndex.STR_OFFSETS, row),
                        index.version() == 5
                                ? index.part(ranges, PackageIndex.RNGLISTS, row)
                                : ranges),
                null);
    }
}
