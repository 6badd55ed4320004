package sonde.format.dwarf.location;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.format.MalformedInputException;

/**
 * Expressions that count for some addresses: {@code .debug_loc}, its form in {@code .dwo} files of
 * DWARF 4, and {@code .debug_loclists} (DWARF 5, 2.6.2), with GNU's view numbers passed over.
 */
final class LocationLists {
    private static final int MOST = 1 << 16;

    /** DW_LLE_GNU_view_pair. */
    private static final int VIEW_PAIR = 9;

    private final EntryUnit unit;
    private final Entries file;
    private final List<Part> found = new ArrayList<>();
    private long base;

    /**
     * An expression and where it counts.
     *
     * @param range null for everywhere that has no other
     */
    record Part(@Nullable AddressRange range, MemorySegment expression) {
        boolean countsAt(long address) {
            return range == null || range.contains(address);
        }
    }

    private LocationLists(EntryUnit unit) throws MalformedInputException {
        this.unit = unit;
        this.file = unit.file;
        base = unit.base().address(Attribute.LOW_PC).orElse(0);
    }

    /** What an attribute says; what stands before a damage of the list is kept. */
    static List<Part> of(Entry entry, int attribute) throws MalformedInputException {
        MemorySegment block = entry.block(attribute);
        if (block != null) {
            return List.of(new Part(null, block));
        }
        if (!entry.has(attribute)) {
            return List.of();
        }
        LocationLists lists = new LocationLists(entry.unit);
        try {
            lists.read(entry.raw(attribute), entry.form(attribute) == Form.LOCLISTX);
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
            oldSplit(cursor(".debug_loc", value));
        } else {
            old(cursor(".debug_loc", value));
        }
    }

    private EntryCursor cursor(String section, long at) throws MalformedInputException {
        return new EntryCursor(file.section(section), file.order(), at, Long.MAX_VALUE);
    }

    private long indexed(long index) throws MalformedInputException {
        long header = unit.offsetBytes == 8 ? 20 : 12;
        long start = unit.root().constant(Attribute.LOCLISTS_BASE, header);
        if (index < 0 || index > 1 << 24 || start < 0) {
            return -1;
        }
        long at = start + index * unit.offsetBytes;
        return start + cursor(".debug_loclists", at).unsigned(unit.offsetBytes);
    }

    private void add(EntryCursor cursor, long start, long end, long bytes)
            throws MalformedInputException {
        long from = cursor.position();
        cursor.skip(bytes);
        if (Long.compareUnsigned(start, end) < 0) {
            String section = unit.version() >= 5 ? ".debug_loclists" : ".debug_loc";
            MemorySegment expression = file.section(section).asSlice(from, bytes);
            found.add(new Part(new AddressRange(start, end), expression));
        }
    }

    private void old(EntryCursor cursor) throws MalformedInputException {
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

    /** GNU's form of DWARF 4, from which that of DWARF 5 grew. */
    private void oldSplit(EntryCursor cursor) throws MalformedInputException {
        for (int i = 0; i < MOST; i++) {
            int kind = cursor.u8();
            long start;
            long end;
            switch (kind) {
                case 0 -> {
                    return;
                }
                case 1 -> {
                    base = address(cursor.uleb());
                    continue;
                }
                case 2 -> {
                    start = address(cursor.uleb());
                    end = address(cursor.uleb());
                }
                case 3 -> {
                    start = address(cursor.uleb());
                    end = start + cursor.u32();
                }
                case 4 -> {
                    start = base + cursor.u32();
                    end = base + cursor.u32();
                }
                default -> throw cursor.malformed("a location of kind " + kind);
            }
            add(cursor, start, end, cursor.u16());
        }
    }

    private long address(long index) throws MalformedInputException {
        return file.indexed(unit, index).orElse(0);
    }

    /** DW_LLE_* (DWARF 5, 7.7.3). */
    private void lists(EntryCursor cursor) throws MalformedInputException {
        int bytes = unit.addressBytes();
        for (int i = 0; i < MOST; i++) {
            int kind = cursor.u8();
            long start;
            long end;
            switch (kind) {
                case 0 -> {
                    return;
                }
                case 1 -> {
                    base = address(cursor.uleb());
                    continue;
                }
                case 6 -> {
                    base = cursor.unsigned(bytes);
                    continue;
                }
                case VIEW_PAIR -> {
                    cursor.uleb();
                    cursor.uleb();
                    continue;
                }
                case 5 -> {
                    long length = cursor.uleb();
                    long from = cursor.position();
                    cursor.skip(length);
                    found.add(
                            new Part(null, file.section(".debug_loclists").asSlice(from, length)));
                    continue;
                }
                case 2 -> {
                    start = address(cursor.uleb());
                    end = address(cursor.uleb());
                }
                case 3 -> {
                    start = address(cursor.uleb());
                    end = start + cursor.uleb();
                }
                case 4 -> {
                    start = base + cursor.uleb();
                    end = base + cursor.uleb();
                }
                case 7 -> {
                    start = cursor.unsigned(bytes);
                    end = cursor.unsigned(bytes);
                }
                case 8 -> {
                    start = cursor.unsigned(bytes);
                    end = start + cursor.uleb();
                }
                default -> throw cursor.malformed("a location of kind " + kind);
            }
            add(cursor, start, end, cursor.uleb());
        }
    }
}
