package sonde.binary.dwarf.location;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.AttributeForms;
import sonde.binary.dwarf.section.SectionCursor;

/** Address ranges of entries: {@code .debug_ranges} and {@code .debug_rnglists} (DWARF 5, 2.17). */
final class RangeLists {
    private static final int MOST = 1 << 20;

    private final DebugEntries file;

    RangeLists(DebugEntries file) {
        this.file = file;
    }

    /** Those of DW_AT_ranges; what is read before a damage stays. */
    List<AddressRange> of(DebugEntry entry) throws MalformedInputException {
        EntryUnit unit = entry.unit;
        DebugEntry root = unit.base();
        List<AddressRange> found = new ArrayList<>();
        long base = root.address(DwarfAttribute.LOW_PC).orElse(0);
        long value = entry.raw(DwarfAttribute.RANGES);
        if (unit.version() < 5) {
            long added = entry.equals(root) ? 0 : root.constant(DwarfAttribute.GNU_RANGES_BASE, 0);
            old(unit, value + added, base, found);
        } else {
            long at = value;
            if (entry.form(DwarfAttribute.RANGES) == AttributeForms.RNGLISTX) {
                at = indexed(unit, root, value);
            }
            lists(unit, at, base, found);
        }
        return found;
    }

    private MemorySegment section(EntryUnit unit) throws MalformedInputException {
        // A split unit of DWARF 5 has a section of its own; before, it was the program's.
        if (unit.version() < 5) {
            return file.addresses().section(".debug_ranges");
        }
        MemorySegment own = file.section(".debug_rnglists");
        return own.byteSize() == 0 ? file.addresses().section(".debug_rnglists") : own;
    }

    private long indexed(EntryUnit unit, DebugEntry root, long index)
            throws MalformedInputException {
        long header = unit.offsetBytes == 8 ? 20 : 12;
        long base =
                file.skeleton(unit) == null
                        ? root.constant(DwarfAttribute.RNGLISTS_BASE, header)
                        : header;
        if (index < 0 || index > 1 << 24 || base < 0) {
            return -1;
        }
        SectionCursor cursor = file.cursor(section(unit), base + index * unit.offsetBytes);
        return base + cursor.unsigned(unit.offsetBytes);
    }

    private void old(EntryUnit unit, long at, long unitBase, List<AddressRange> found)
            throws MalformedInputException {
        SectionCursor cursor = file.cursor(section(unit), at);
        int bytes = unit.addressBytes();
        long selection = -1L >>> (64 - 8 * bytes);
        long base = unitBase;
        while (cursor.hasMore() && found.size() < MOST) {
            long start = cursor.unsigned(bytes);
            long end = cursor.unsigned(bytes);
            if (start == 0 && end == 0) {
                return;
            }
            if (start == selection) {
                base = end;
            } else {
                add(found, base + start, base + end);
            }
        }
    }

    private void lists(EntryUnit unit, long at, long unitBase, List<AddressRange> found)
            throws MalformedInputException {
        SectionCursor cursor = file.cursor(section(unit), at);
        long base = unitBase;
        int bytes = unit.addressBytes();
        while (cursor.hasMore() && found.size() < MOST) {
            int kind = cursor.u8();
            switch (kind) {
                case 0 -> {
                    return; // end_of_list
                }
                case 1 -> base = indexed(unit, cursor.uleb()).orElse(0); // base_addressx
                case 2 -> { // startx_endx
                    OptionalLong start = indexed(unit, cursor.uleb());
                    OptionalLong end = indexed(unit, cursor.uleb());
                    add(found, start.orElse(0), end.orElse(0));
                }
                case 3 -> { // startx_length
                    OptionalLong start = indexed(unit, cursor.uleb());
                    long length = cursor.uleb();
                    add(found, start.orElse(0), start.orElse(0) + length);
                }
                case 4 -> { // offset_pair
                    long start = cursor.uleb();
                    add(found, base + start, base + cursor.uleb());
                }
                case 5 -> base = cursor.unsigned(bytes); // base_address
                case 6 -> { // start_end
                    long start = cursor.unsigned(bytes);
                    add(found, start, cursor.unsigned(bytes));
                }
                case 7 -> { // start_length
                    long start = cursor.unsigned(bytes);
                    add(found, start, start + cursor.uleb());
                }
                default -> throw cursor.malformed("a range of kind " + kind);
            }
        }
    }

    private OptionalLong indexed(EntryUnit unit, long index) throws MalformedInputException {
        return unit.file.indexed(unit, index);
    }

    private static void add(List<AddressRange> found, long start, long end) {
        if (Long.compareUnsigned(start, end) < 0) {
            found.add(new AddressRange(start, end));
        }
    }
}
