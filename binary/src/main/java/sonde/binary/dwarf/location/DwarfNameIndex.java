package sonde.binary.dwarf.location;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.AttributeForms;
import sonde.binary.dwarf.section.SectionCursor;

/**
 * The units that {@code .debug_names} (DWARF 5, 6.1.1.4) and {@code .gdb_index} (gdb manual, "Index
 * Section Format", versions 5 to 9) name for a name. What they say is only where to look first: an
 * index may be of another build, incomplete or a lie.
 */
final class DwarfNameIndex {
    private static final int WINDOW = 1 << 8;
    private static final int MOST_INDEXES = 1 << 16;
    private static final int MOST_ENTRIES = 1 << 12;
    private static final int MOST_ATTRIBUTES = 64;

    private static final int IDX_COMPILE_UNIT = 1;
    private static final int IDX_TYPE_UNIT = 2;

    private final DebugEntries file;
    private final byte[] name;
    private final TreeSet<Long> offsets = new TreeSet<>();

    private DwarfNameIndex(DebugEntries file, String name) {
        this.file = file;
        this.name = name.getBytes(StandardCharsets.UTF_8);
    }

    /** Offsets in {@code .debug_info}, ascending; none where no index knows the name. */
    static TreeSet<Long> units(DebugEntries file, String name) {
        DwarfNameIndex index = new DwarfNameIndex(file, name);
        boolean ascii = name.chars().allMatch(c -> c < 0x80);
        if (!ascii || name.isEmpty()) {
            // How others fold their case is not one way.
            return index.offsets;
        }
        try {
            index.names(file.section(".debug_names"));
        } catch (MalformedInputException e) {
            // As if it were not there.
            index.offsets.clear();
        }
        try {
            index.gdb(file.section(".gdb_index"));
        } catch (MalformedInputException e) {
            return index.offsets;
        }
        return index.offsets;
    }

    /** An index for each unit, or a few for all. */
    private void names(MemorySegment section) throws MalformedInputException {
        SectionCursor c = new SectionCursor(section, file.isBig(), WINDOW);
        for (int i = 0; i < MOST_INDEXES && c.hasMore(); i++) {
            long length = c.length();
            long end = c.position() + length;
            if (length > section.byteSize() - c.position()) {
                throw c.malformed("an index of " + length + " bytes");
            }
            one(c, c.offsetBytes(), end);
            c.seek(end);
        }
    }

    /**
     * Where the tables of an index begin; all counts are checked against its end.
     *
     * @param units offsets of units, then those of its own type units
     */
    private record IndexTables(
            int offsetBytes,
            long units,
            long unitCount,
            long localTypes,
            long buckets,
            long bucketCount,
            long nameCount,
            long abbreviations,
            long abbreviationBytes,
            long end) {
        long hashes() {
            return buckets + 4 * bucketCount;
        }

        long strings() {
            return hashes() + (bucketCount == 0 ? 0 : 4 * nameCount);
        }

        long entries() {
            return strings() + offsetBytes * nameCount;
        }

        long pool() {
            return abbreviations + abbreviationBytes;
        }
    }

    private void one(SectionCursor c, int offsetBytes, long end) throws MalformedInputException {
        int version = c.u16();
        c.skip(2);
        long unitCount = c.u32();
        long localTypes = c.u32();
        long foreignTypes = c.u32();
        long bucketCount = c.u32();
        long nameCount = c.u32();
        long abbreviationBytes = c.u32();
        long augmentationBytes = c.u32() + 3 & ~3L;
        long augmentationAt = c.position();
        c.skip(Math.min(augmentationBytes, end - augmentationAt));
        long units = c.position();
        long buckets = units + offsetBytes * (unitCount + localTypes) + 8 * foreignTypes;
        long abbreviations =
                buckets
                        + 4 * bucketCount
                        + (bucketCount == 0 ? 0 : 4 * nameCount)
                        + 2 * offsetBytes * nameCount;
        if (version != 5
                || !isKnown(c, augmentationAt, augmentationBytes)
                || abbreviations + abbreviationBytes > end) {
            return;
        }
        IndexTables tables =
                new IndexTables(
                        offsetBytes,
                        units,
                        unitCount,
                        localTypes,
                        buckets,
                        bucketCount,
                        nameCount,
                        abbreviations,
                        abbreviationBytes,
                        end);
        find(c, tables);
    }

    /** None, LLVM's ("LLVM0700") and gdb's ("GDB2", "GDB3"): others may mean something else. */
    private static boolean isKnown(SectionCursor c, long at, long bytes)
            throws MalformedInputException {
        if (bytes < 4) {
            return bytes == 0;
        }
        c.seek(at);
        int first = c.u8();
        int second = c.u8();
        return first == 'L' && second == 'L' || first == 'G' && second == 'D' || first == 0;
    }

    private void find(SectionCursor c, IndexTables t) throws MalformedInputException {
        if (t.bucketCount == 0) {
            for (long i = 0; i < t.nameCount; i++) {
                entry(c, t, i);
            }
            return;
        }
        long hash = 5381;
        for (byte b : name) {
            int lower = b >= 'A' && b <= 'Z' ? b + 32 : b;
            hash = hash * 33 + lower & 0xffff_ffffL;
        }
        long bucket = hash % t.bucketCount;
        c.seek(t.buckets + 4 * bucket);
        for (long i = c.u32() - 1; i >= 0 && i < t.nameCount; i++) {
            c.seek(t.hashes() + 4 * i);
            long found = c.u32();
            if (found % t.bucketCount != bucket) {
                return;
            }
            if (found == hash) {
                entry(c, t, i);
            }
        }
    }

    private void entry(SectionCursor c, IndexTables t, long number) throws MalformedInputException {
        c.seek(t.strings() + t.offsetBytes * number);
        long text = c.unsigned(t.offsetBytes);
        if (!isName(".debug_str", text)) {
            return;
        }
        c.seek(t.entries() + t.offsetBytes * number);
        long at = t.pool() + c.unsigned(t.offsetBytes);
        if (at >= t.end) {
            return;
        }
        Map<Long, int[]> shapes = shapes(c, t);
        c.seek(at);
        for (int i = 0; i < MOST_ENTRIES && c.position() < t.end; i++) {
            int[] shape = shapes.get(c.uleb());
            if (shape == null) {
                return;
            }
            long unit = -1;
            long type = -1;
            for (int k = 0; k < shape.length; k += 2) {
                long value = value(c, shape[k + 1]);
                unit = shape[k] == IDX_COMPILE_UNIT ? value : unit;
                type = shape[k] == IDX_TYPE_UNIT ? value : type;
            }
            long here = c.position();
            add(c, t, unit, type);
            c.seek(here);
        }
    }

    private void add(SectionCursor c, IndexTables t, long unit, long type)
            throws MalformedInputException {
        // An index of one unit need not say which.
        boolean only = unit < 0 && type < 0 && t.unitCount == 1;
        long number =
                type >= 0 && type < t.localTypes
                        ? t.unitCount + type
                        : only ? 0 : unit < t.unitCount ? unit : -1;
        if (number >= 0) {
            c.seek(t.units + t.offsetBytes * number);
            offsets.add(c.unsigned(t.offsetBytes));
        }
    }

    private static long value(SectionCursor c, int form) throws MalformedInputException {
        return switch (form) {
            case 0x19 -> 1; // DW_FORM_flag_present: the parent is not in the index
            case 0x0b, 0x11 -> c.u8();
            case 0x05, 0x12 -> c.u16();
            case 0x06, 0x13 -> c.u32();
            case 0x07, 0x14, AttributeForms.REF_SIG8 -> c.u64();
            case 0x0f, 0x15 -> c.uleb();
            default -> throw c.malformed("an index with form " + form);
        };
    }

    /** Attributes and forms by code. */
    private static Map<Long, int[]> shapes(SectionCursor c, IndexTables t)
            throws MalformedInputException {
        Map<Long, int[]> shapes = new HashMap<>();
        c.seek(t.abbreviations);
        while (c.position() < t.pool()) {
            long code = c.uleb();
            if (code == 0) {
                break;
            }
            c.uleb(); // DW_TAG_*, which the entry itself has
            int[] shape = new int[2 * MOST_ATTRIBUTES];
            int count = 0;
            for (int index = c.smallUleb(), form = c.smallUleb();
                    index != 0 || form != 0;
                    index = c.smallUleb(), form = c.smallUleb()) {
                if (count == shape.length) {
                    throw c.malformed("too many attributes");
                }
                shape[count++] = index;
                shape[count++] = form;
            }
            shapes.put(code, Arrays.copyOf(shape, count));
        }
        return shapes;
    }

    private boolean isName(String section, long at) throws MalformedInputException {
        return file.isText(file.section(section), at, name);
    }

    /** gdb's, whose numbers are little-endian whatever the file is. */
    private void gdb(MemorySegment section) throws MalformedInputException {
        if (section.byteSize() < 24) {
            return;
        }
        SectionCursor c = new SectionCursor(section, false, WINDOW);
        long version = c.u32();
        if (version < 5 || version > 9) {
            return;
        }
        long units = c.u32();
        long types = c.u32();
        long addresses = c.u32();
        long symbols = c.u32();
        long behind = c.u32(); // what follows the symbols: since version 9 not yet the pool
        long pool = version >= 9 ? c.u32() : behind;
        if (units > types || types > addresses || symbols > behind || behind > pool) {
            return;
        }
        long slots = (behind - symbols) / 8;
        if (Long.bitCount(slots) != 1) {
            return;
        }
        int hash = 0;
        for (byte b :
                new String(name, StandardCharsets.US_ASCII)
                        .toLowerCase(Locale.ROOT)
                        .getBytes(StandardCharsets.US_ASCII)) {
            hash = hash * 67 + b - 113;
        }
        long slot = hash & slots - 1;
        long step = (long) hash * 17 & slots - 1 | 1;
        for (long tried = 0; tried < slots; tried++, slot = slot + step & slots - 1) {
            c.seek(symbols + 8 * slot);
            long text = c.u32();
            long vector = c.u32();
            if (text == 0 && vector == 0) {
                return;
            }
            if (file.isText(section, pool + text, name)) {
                vector(c, pool + vector, new long[] {units, types, addresses});
                return;
            }
        }
    }

    /** Units by number: 24 bits of each word; type units behind the others. */
    private void vector(SectionCursor c, long at, long[] lists) throws MalformedInputException {
        long unitCount = (lists[1] - lists[0]) / 16;
        long typeCount = (lists[2] - lists[1]) / 24;
        c.seek(at);
        long count = Math.min(c.u32(), MOST_ENTRIES);
        for (long i = 0; i < count; i++) {
            c.seek(at + 4 + 4 * i);
            long number = c.u32() & 0xff_ffff;
            if (number < unitCount) {
                c.seek(lists[0] + 16 * number);
                offsets.add(c.u64());
            } else if (number - unitCount < typeCount) {
                c.seek(lists[1] + 24 * (number - unitCount));
                offsets.add(c.u64());
            }
        }
    }
}
