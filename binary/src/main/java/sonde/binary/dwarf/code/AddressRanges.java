package sonde.binary.dwarf.code;

import java.util.Arrays;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.SectionCursor;

/** {@code .debug_aranges}: which unit has which addresses (DWARF 5, 6.1.2), as far as it says. */
final class AddressRanges {
    private AddressRanges() {}

    /** Adds the ranges of all sets, up to a malformed one. */
    static void read(DwarfFile file, CodeLayout layout, RangeIndex into) {
        SectionCursor cursor =
                new SectionCursor(file.sections.addressRanges(), file.sections.big(), 1 << 16);
        try {
            while (cursor.position() < cursor.size()) {
                set(file, layout, cursor, into);
            }
        } catch (MalformedInputException e) {
            // Units without a set are looked at themselves.
            return;
        }
    }

    private static void set(
            DwarfFile file, CodeLayout layout, SectionCursor cursor, RangeIndex into)
            throws MalformedInputException {
        long start = cursor.position();
        long length = cursor.length();
        int offsetBytes = cursor.offsetBytes();
        long end = cursor.position() + length;
        int version = cursor.u16();
        int unit = Arrays.binarySearch(file.unitOffsets(), cursor.unsigned(offsetBytes));
        int bytes = cursor.u8();
        int selectorBytes = cursor.u8();
        boolean known = version == 2 && selectorBytes == 0 && unit >= 0;
        if (known && (bytes == 4 || bytes == 8)) {
            long pair = 2L * bytes;
            cursor.seek(start + (cursor.position() - start + pair - 1) / pair * pair);
            while (cursor.position() + pair <= end) {
                long from = cursor.unsigned(bytes);
                long size = cursor.unsigned(bytes);
                if (size > 0 && layout.isCode(from)) {
                    into.add(from, from + size, unit);
                }
            }
        }
        cursor.seek(end);
    }
}
