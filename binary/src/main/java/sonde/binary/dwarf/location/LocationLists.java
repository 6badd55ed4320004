package sonde.binary.dwarf.location;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.AttributeForms;
import sonde.binary.dwarf.section.SectionCursor;

/**
 * Expressions that count for some addresses: {@code .debug_loc}, its form in {@code .dwo} files of
 * DWARF 4, and {@code .debug_loclists} (DWARF 5, 2.6.2), with GNU's view numbers passed over.
 */
final class LocationLists {
    private static final int MOST = 1 << 16;

    /** DW_LLE_GNU_view_pair. */
    private static final int VIEW_PAIR = 9;

    private final EntryUnit unit;
    private final DebugEntries file;
    private final List<LocationEntry> found = new ArrayList<>();
    private long base;

    /**
     * An expression and where it counts.
     *
     * @param range null for everywhere that has no other
     */
    record LocationEntry(@Nullable AddressRange range, MemorySegment expression) {
        boolean countsAt(long address) {
            return range == null || range.contains(address);
        }
    }

    private LocationLists(EntryUnit unit) throws MalformedInputException {
        this.unit = unit;
        this.file = unit.file;
        base = unit.base().address(DwarfAttribute.LOW_PC).orElse(0);
    }

    /** What an attribute says; what stands before a damage of the list is kept. */
    static List<LocationEntry> of(DebugEntry entry, int attribute) throws MalformedInputException {
        MemorySegment block = entry.block(attribute);
        if (block != null) {
            return List.of(new LocationEntry(null, block));
        }
        if (!entry.has(attribute)) {
            return List.of();
        }
        LocationLists lists = new LocationLists(entry.unit);
        try {
            lists.read(entry.raw(attribute), entry.form(attribute) == AttributeForms.LOCLISTX);
        } catch (MalformedInputException e) {
            if (lists.found.isEmpty()) {
                throw e;
            }
        }
        return lists.found;
    }

    private void read(long value, boolean isIndex) throws MalformedInputException {
        if (unit.version() >= 5) {
            long at = isIndex ? indexed(value) : value;
            lists(cursor(".debug_loclists", at));
        } else if (file.skeleton(unit) != null) {
            lists(cursor(".debug_loc", value));
        } else {
            old(cursor(".debug_loc", value));
        }
    }

    private SectionCursor cursor(String section, long at) throws MalformedInputException {
        return file.cursor(file.section(section), at);
    }

    private long indexed(long index) throws MalformedInputException {
        long header = unit.offsetBytes == 8 ? 20 : 12;
        long start = unit.root().constant(DwarfAttribute.LOCLISTS_BASE, header);
        if (index < 0 || index > 1 << 24 || start < 0) {
            return -1;
        }
        long at = start + index * unit.offsetBytes;
        return start + cursor(".debug_loclists", at).unsigned(unit.offsetBytes);
    }

    private void add(SectionCursor cursor, long start, long end, long bytes)
            throws MalformedInputException {
        MemorySegment expression = cursor.slice(bytes);
        if (Long.compareUnsigned(start, end) < 0) {
            found.add(new LocationEntry(new AddressRange(start, end), expression));
        }
    }

    private void old(SectionCursor cursor) throws MalformedInputException {
        int bytes = unit.addressBytes();
        long selection = -1L >>> (64 - 8 * bytes);
        for (int i = 0; i < MOST; i++) {
            long start = cursor.unsigned(bytes);
            long end = cursor.unsigned(bytes);
            if (start == 0 && end == 0) {
                return;
            }
            if (start == selection) {
                base = end;
            } else {
                add(cursor, base + start, base + end, cursor.u16());
            }
        }
    }

    private long address(long index) throws MalformedInputException {
        return file.indexed(unit, index).orElse(0);
    }

    /**
     * DW_LLE_* (DWARF 5, 7.7.3), and GNU's form for split units of DWARF 4 from which it grew: of
     * five kinds, and with numbers of four bytes where it has LEB128.
     */
    private void lists(SectionCursor cursor) throws MalformedInputException {
        boolean five = unit.version() >= 5;
        for (int i = 0; i < MOST; i++) {
            int kind = cursor.u8();
            long start = 0;
            switch (kind) {
                case 0 -> {
                    return; // end_of_list
                }
                case 1 -> base = address(cursor.uleb()); // base_addressx
                case 2, 3 -> start = address(cursor.uleb()); // startx_endx, startx_length
                case 4 -> start = base + number(cursor); // offset_pair
                default -> {
                    if (!five) {
                        throw cursor.malformed("a location of kind " + kind);
                    }
                    start = late(cursor, kind);
                }
            }
            long end;
            switch (kind) {
                case 2 -> end = address(cursor.uleb());
                case 3 -> end = start + number(cursor);
                case 4 -> end = base + number(cursor);
                case 7 -> end = cursor.unsigned(unit.addressBytes()); // start_end
                case 8 -> end = start + cursor.uleb(); // start_length
                default -> {
                    continue;
                }
            }
            add(cursor, start, end, five ? cursor.uleb() : cursor.u16());
        }
    }

    private long number(SectionCursor cursor) throws MalformedInputException {
        return unit.version() >= 5 ? cursor.uleb() : cursor.u32();
    }

    /** What only DWARF 5 has: the address with which a kind begins. */
    private long late(SectionCursor cursor, int kind) throws MalformedInputException {
        switch (kind) {
            case 5 -> // default_location
                    found.add(new LocationEntry(null, cursor.slice(cursor.uleb())));
            case 6 -> base = cursor.unsigned(unit.addressBytes()); // base_address
            case 7, 8 -> {
                return cursor.unsigned(unit.addressBytes());
            }
            case VIEW_PAIR -> {
                cursor.uleb();
                cursor.uleb();
            }
            default -> throw cursor.malformed("a location of kind " + kind);
        }
        return 0;
    }
}
