package sonde.binary.dwarf.code;

import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.AttributeForms;
import sonde.binary.dwarf.section.SectionCursor;

/** Addresses that an entry covers: DW_AT_low_pc, high_pc, ranges (DWARF 5, 2.17). */
final class RangeReader {
    /** Entries of one list. */
    private static final int MOST = 1 << 20;

    private RangeReader() {}

    /**
     * Adds the ranges of an entry.
     *
     * @param low its DW_AT_low_pc or {@link CodeUnit#NONE}
     * @param highForm form of its DW_AT_high_pc, 0 for none
     * @param rangesForm form of its DW_AT_ranges, 0 for none
     */
    static void read(
            CodeUnit unit,
            long low,
            int highForm,
            long high,
            int rangesForm,
            long ranges,
            CodeRanges into)
            throws MalformedInputException {
        if (rangesForm != 0) {
            list(unit, rangesForm, ranges, into);
        } else if (low != CodeUnit.NONE && highForm != 0) {
            boolean address =
                    highForm == AttributeForms.ADDR || AttributeForms.isAddressIndex(highForm);
            into.add(low, address ? unit.address(highForm, high) : low + high);
        }
    }

    private static void list(CodeUnit unit, int form, long value, CodeRanges into)
            throws MalformedInputException {
        if (unit.header.version() < 5) {
            pairs(unit, unit.owner.oldRanges, unit.rangesBase(value), into);
            return;
        }
        SectionCursor cursor = unit.reader.rangeLists;
        long offset = value;
        if (form == AttributeForms.RNGLISTX) {
            int bytes = unit.header.offsetBytes();
            long most = (cursor.size() - unit.rangeListsBase) / bytes;
            if (value < 0 || unit.rangeListsBase < 0 || value >= most) {
                throw cursor.malformed("range list " + value);
            }
            cursor.seek(unit.rangeListsBase + value * bytes);
            offset = unit.rangeListsBase + cursor.unsigned(bytes);
        }
        entries(unit, cursor, offset, into);
    }

    /** {@code .debug_ranges} (DWARF 4, 2.17.3): pairs up to one of zeros. */
    private static void pairs(CodeUnit unit, SectionCursor cursor, long offset, CodeRanges into)
            throws MalformedInputException {
        int bytes = unit.header.addressBytes();
        long selection = bytes == 8 ? -1 : (1L << 8 * bytes) - 1;
        long base = unit.lowPc == CodeUnit.NONE ? 0 : unit.lowPc;
        cursor.seek(offset);
        for (int i = 0; i < MOST; i++) {
            long start = cursor.unsigned(bytes);
            long end = cursor.unsigned(bytes);
            if (start == selection) {
                base = end;
            } else if (start == 0 && end == 0) {
                return;
            } else {
                into.add(base + start, base + end);
            }
        }
        throw cursor.malformed("a range list without end");
    }

    /** {@code .debug_rnglists} (DWARF 5, 7.25). */
    private static void entries(CodeUnit unit, SectionCursor cursor, long offset, CodeRanges into)
            throws MalformedInputException {
        int bytes = unit.header.addressBytes();
        long base = unit.lowPc == CodeUnit.NONE ? 0 : unit.lowPc;
        cursor.seek(offset);
        for (int i = 0; i < MOST; i++) {
            int kind = cursor.u8();
            switch (kind) {
                case 0 -> {
                    return; // end_of_list
                }
                case 1 -> base = unit.address(AttributeForms.ADDRX, cursor.uleb()); // base_addressx
                case 2 -> { // startx_endx
                    long start = unit.address(AttributeForms.ADDRX, cursor.uleb());
                    into.add(start, unit.address(AttributeForms.ADDRX, cursor.uleb()));
                }
                case 3 -> { // startx_length
                    long start = unit.address(AttributeForms.ADDRX, cursor.uleb());
                    into.add(start, start + cursor.uleb());
                }
                case 4 -> { // offset_pair
                    long start = cursor.uleb();
                    into.add(base + start, base + cursor.uleb());
                }
                case 5 -> base = cursor.unsigned(bytes); // base_address
                case 6 -> { // start_end
                    long start = cursor.unsigned(bytes);
                    into.add(start, cursor.unsigned(bytes));
                }
                case 7 -> { // start_length
                    long start = cursor.unsigned(bytes);
                    into.add(start, start + cursor.uleb());
                }
                default -> throw cursor.malformed("range list entry " + kind);
            }
        }
        throw cursor.malformed("a range list without end");
    }
}
