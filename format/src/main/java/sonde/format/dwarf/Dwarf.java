package sonde.format.dwarf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.format.MalformedInputException;
import sonde.format.elf.ElfFile;
import sonde.format.elf.Section;

/**
 * Functions and types of an ELF file's debugging information, DWARF 2 to 5. Opening looks at the
 * headers of units alone; entries are read when asked for. A malformed unit is passed over. Not
 * safe for several threads.
 */
public final class Dwarf {
    private static final int MOST_UNITS = 1 << 20;
    private static final int MOST_CHILDREN = 1 << 20;

    /** Entries that a search looks at: more than Chromium has. */
    private static final long MOST_ENTRIES = 200_000_000;

    private static final int MOST_NAME_BYTES = 1 << 16;
    private static final int MOST_DEPTH = 16;

    private final ByteOrder order;
    private final MemorySegment abbreviationTables;
    private final MemorySegment strings;
    private final MemorySegment lineStrings;
    private final MemorySegment stringOffsets;
    private final MemorySegment lines;
    private final boolean split;
    private final List<Unit> units = new ArrayList<>();
    private final Map<Long, Unit> bySignature = new HashMap<>();
    private final Map<Long, Abbreviations> abbreviations = new HashMap<>();
    private final Map<Unit, Long> stringBases = new HashMap<>();
    private long entries;

    private Dwarf(ElfFile elf, String suffix) throws MalformedInputException {
        order = elf.order();
        split = !suffix.isEmpty();
        abbreviationTables = section(elf, ".debug_abbrev" + suffix);
        strings = section(elf, ".debug_str" + suffix);
        lineStrings = section(elf, ".debug_line_str" + suffix);
        stringOffsets = section(elf, ".debug_str_offsets" + suffix);
        lines = section(elf, ".debug_line" + suffix);
        units(section(elf, ".debug_info" + suffix), false);
        units(section(elf, ".debug_types" + suffix), true);
    }

    /**
     * Of a program, library or separate debug file; without any entries when it has none.
     *
     * @throws MalformedInputException when a section lies outside of the file
     */
    public static Dwarf read(ElfFile elf) throws MalformedInputException {
        return new Dwarf(elf, "");
    }

    /** Of a {@code .dwo} file, which has what skeleton units leave out. */
    public static Dwarf readSplit(ElfFile elf) throws MalformedInputException {
        return new Dwarf(elf, ".dwo");
    }

    private static MemorySegment section(ElfFile elf, String name) throws MalformedInputException {
        Optional<Section> section = elf.section(name);
        boolean bytes = section.isPresent() && section.get().type() != ElfFile.SHT_NOBITS;
        return bytes ? elf.content(section.get()) : MemorySegment.NULL.asSlice(0, 0);
    }

    private void units(MemorySegment section, boolean types) {
        long at = 0;
        while (at < section.byteSize() && units.size() < MOST_UNITS) {
            try {
                Unit unit = Unit.read(section, order, at, types);
                units.add(unit);
                if (unit.isType()) {
                    bySignature.putIfAbsent(unit.signature(), unit);
                }
                at = unit.end();
            } catch (MalformedInputException e) {
                // Where one ends wrongly nobody knows where the next begins.
                return;
            }
        }
    }

    /** Whether there is nothing. */
    public boolean isEmpty() {
        return units.isEmpty();
    }

    private DieReader reader(Unit unit) throws MalformedInputException {
        Abbreviations known = abbreviations.get(unit.abbreviations());
        if (known == null) {
            known = new Abbreviations(abbreviationTables, order, unit.abbreviations());
            abbreviations.put(unit.abbreviations(), known);
        }
        return new DieReader(unit, known, order);
    }

    private @Nullable Die root(Unit unit) {
        try {
            return reader(unit).read(unit.first());
        } catch (MalformedInputException e) {
            return null;
        }
    }

    /** The files that skeleton units leave to others: name, and the folder that it counts from. */
    public List<String[]> splitFiles() {
        List<String[]> files = new ArrayList<>();
        for (Unit unit : units) {
            Die root = root(unit);
            if (root != null && root.dwoForm != 0) {
                String folder = text(root, root.folderForm, root.folder);
                files.add(new String[] {folder, text(root, root.dwoForm, root.dwoName)});
            }
        }
        return files;
    }

    /** The lines of all units; malformed tables are left out. */
    public List<LineTable> lineTables() {
        List<LineTable> tables = new ArrayList<>();
        for (Unit unit : units) {
            Die root = unit.isType() ? null : root(unit);
            if (root != null && root.lines != Die.NONE) {
                String folder = text(root, root.folderForm, root.folder);
                try {
                    DwarfCursor cursor = new DwarfCursor(lines, order, root.lines, Long.MAX_VALUE);
                    tables.add(new LineTable(cursor, folder, (f, v) -> lineText(root, f, v)));
                } catch (MalformedInputException e) {
                    // Its places are missing, those of other units are not.
                    continue;
                }
            }
        }
        return tables;
    }

    private String lineText(Die root, int form, long value) {
        return form == DieReader.STRING ? text(lines, value) : text(root, form, value);
    }

    /**
     * What an entry contains.
     *
     * @throws MalformedInputException when the entries of its unit are malformed
     */
    public List<Die> children(Die die) throws MalformedInputException {
        List<Die> children = new ArrayList<>();
        if (!die.hasChildren) {
            return children;
        }
        entries = 0;
        DieReader reader = reader(die.unit);
        long at = die.next;
        while (at < die.unit.end() && children.size() < MOST_CHILDREN) {
            Die child = reader.read(at);
            if (child == null) {
                break;
            }
            children.add(child);
            at = behind(reader, child);
        }
        return children;
    }

    /** Offset behind an entry and all it contains. */
    private long behind(DieReader reader, Die die) throws MalformedInputException {
        if (!die.hasChildren) {
            return die.next;
        }
        if (die.sibling > die.next && die.sibling < die.unit.end()) {
            return die.sibling;
        }
        int depth = 1;
        long at = die.next;
        while (depth > 0 && at < die.unit.end()) {
            if (++entries > MOST_ENTRIES) {
                throw new MalformedInputException("DWARF", "entries", at, "too many");
            }
            Die one = reader.read(at);
            if (one == null) {
                depth--;
                at++;
            } else if (one.hasChildren && one.sibling > one.next && one.sibling < one.unit.end()) {
                at = one.sibling;
            } else {
                depth += one.hasChildren ? 1 : 0;
                at = one.next;
            }
        }
        return at;
    }

    /** The function of a name or linkage name, its definition if there is one. */
    public Optional<Die> function(String name) {
        return search(Set.of(Die.SUBPROGRAM), name, true);
    }

    /** The definition of a type of a name; of a declaration nothing. */
    public Optional<Die> type(Set<Integer> tags, String name) {
        return search(tags, name, false);
    }

    private Optional<Die> search(Set<Integer> tags, String name, boolean orDeclaration) {
        byte[] wanted = name.getBytes(StandardCharsets.UTF_8);
        entries = 0;
        Die second = null;
        for (Unit unit : units) {
            Die root = root(unit);
            try {
                Die found = root == null ? null : search(root, tags, wanted, 0);
                if (found != null && !found.declaration) {
                    return Optional.of(found);
                }
                second = second == null ? found : second;
            } catch (MalformedInputException e) {
                // The other units may have it.
                continue;
            }
        }
        return orDeclaration ? Optional.ofNullable(second) : Optional.empty();
    }

    private @Nullable Die search(Die in, Set<Integer> tags, byte[] wanted, int depth)
            throws MalformedInputException {
        Die second = null;
        DieReader reader = reader(in.unit);
        long at = in.next;
        while (in.hasChildren && at < in.unit.end()) {
            if (++entries > MOST_ENTRIES) {
                throw new MalformedInputException("DWARF", "entries", at, "too many");
            }
            Die die = reader.read(at);
            if (die == null) {
                break;
            }
            if (tags.contains(die.tag) && bears(die, wanted)) {
                if (!die.declaration) {
                    return die;
                }
                second = second == null ? die : second;
            }
            boolean scope =
                    die.tag == Die.NAMESPACE
                            || die.tag == Die.STRUCTURE_TYPE
                            || die.tag == Die.CLASS_TYPE;
            if (scope && depth < MOST_DEPTH && die.hasChildren) {
                Die inner = search(die, tags, wanted, depth + 1);
                if (inner != null && !inner.declaration) {
                    return inner;
                }
                second = second == null ? inner : second;
            }
            at = behind(reader, die);
        }
        return second;
    }

    /** Whether an entry, or the one that it completes, has that name. */
    private boolean bears(Die die, byte[] wanted) throws MalformedInputException {
        Die at = die;
        for (int hops = 0; at != null && hops < 3; hops++) {
            if (is(at, at.nameForm, at.name, wanted)
                    || is(at, at.linkageForm, at.linkageName, wanted)) {
                return true;
            }
            at = origin(at);
        }
        return false;
    }

    private boolean is(Die die, int form, long value, byte[] wanted) {
        MemorySegment in = segment(die, form);
        long from = in == null ? -1 : start(die, form, value);
        if (in == null || from < 0 || in.byteSize() - from <= wanted.length) {
            return false;
        }
        for (int i = 0; i < wanted.length; i++) {
            if (in.get(ValueLayout.JAVA_BYTE, from + i) != wanted[i]) {
                return false;
            }
        }
        return in.get(ValueLayout.JAVA_BYTE, from + wanted.length) == 0;
    }

    private @Nullable MemorySegment segment(Die die, int form) {
        if (form == DieReader.STRP || DieReader.isIndex(form)) {
            return strings;
        }
        return switch (form) {
            case DieReader.LINE_STRP -> lineStrings;
            case DieReader.STRING -> die.unit.section();
            default -> null;
        };
    }

    /** Offset of a text in its section, -1 for none. */
    private long start(Die die, int form, long value) {
        if (!DieReader.isIndex(form)) {
            return value;
        }
        int bytes = die.unit.offsetBytes();
        long base = stringBase(die.unit);
        boolean within =
                value >= 0 && base >= 0 && value < (stringOffsets.byteSize() - base) / bytes;
        if (!within) {
            return -1;
        }
        long at = base + value * bytes;
        return bytes == 8
                ? stringOffsets.get(ValueLayout.JAVA_LONG_UNALIGNED.withOrder(order), at)
                : stringOffsets.get(ValueLayout.JAVA_INT_UNALIGNED.withOrder(order), at)
                        & 0xffff_ffffL;
    }

    /** DW_AT_str_offsets_base; in split units behind the header of the section (DWARF 5, 7.26). */
    private long stringBase(Unit unit) {
        Long known = stringBases.get(unit);
        if (known == null) {
            int header = unit.version() < 5 ? 0 : unit.offsetBytes() == 8 ? 16 : 8;
            known = (long) header;
            stringBases.put(unit, known);
            Die root = split ? null : root(unit);
            if (root != null && root.stringOffsets != Die.NONE) {
                known = root.stringOffsets;
                stringBases.put(unit, known);
            }
        }
        return known;
    }

    private String text(Die die, int form, long value) {
        MemorySegment in = segment(die, form);
        return in == null ? "" : text(in, start(die, form, value));
    }

    private static String text(MemorySegment in, long from) {
        if (from < 0 || from >= in.byteSize()) {
            return "";
        }
        long end = from;
        long most = Math.min(in.byteSize(), from + MOST_NAME_BYTES);
        while (end < most && in.get(ValueLayout.JAVA_BYTE, end) != 0) {
            end++;
        }
        byte[] bytes = in.asSlice(from, end - from).toArray(ValueLayout.JAVA_BYTE);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** The name of an entry, or of the one that it completes; empty for none. */
    public String name(Die die) throws MalformedInputException {
        Die at = die;
        for (int hops = 0; at != null && hops < 3; hops++) {
            if (at.nameForm != 0) {
                return text(at, at.nameForm, at.name);
            }
            at = origin(at);
        }
        return "";
    }

    private @Nullable Die origin(Die die) throws MalformedInputException {
        return die.originForm == 0 ? null : refer(die, die.originForm, die.origin);
    }

    /** What an entry is of: DW_AT_type; empty for void. */
    public Optional<Die> typeOf(Die die) throws MalformedInputException {
        Die at = die;
        for (int hops = 0; at != null && hops < 3; hops++) {
            if (at.typeForm != 0) {
                return Optional.ofNullable(refer(at, at.typeForm, at.type));
            }
            at = origin(at);
        }
        return Optional.empty();
    }

    /** Where the type of a declaration is defined in a unit of its own; empty elsewhere. */
    public Optional<Die> signed(Die die) throws MalformedInputException {
        return die.signatureForm == 0
                ? Optional.empty()
                : Optional.ofNullable(refer(die, die.signatureForm, die.signature));
    }

    private @Nullable Die refer(Die from, int form, long value) throws MalformedInputException {
        if (form == DieReader.REF_SIG8) {
            Unit unit = bySignature.get(value);
            return unit == null ? null : reader(unit).read(unit.offset() + unit.typeOffset());
        }
        if (form == DieReader.REF_ADDR) {
            Unit unit = unitOf(value);
            return unit == null ? null : reader(unit).read(value);
        }
        boolean local = form >= 0x11 && form <= 0x15;
        return local ? reader(from.unit).read(from.unit.offset() + value) : null;
    }

    /** The unit of {@code .debug_info} that has an offset. */
    private @Nullable Unit unitOf(long offset) {
        int low = 0;
        int high = units.size() - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            Unit unit = units.get(middle);
            // Those of .debug_types stand behind all others.
            if (unit.types() || offset < unit.first()) {
                high = middle - 1;
            } else if (offset >= unit.end()) {
                low = middle + 1;
            } else {
                return unit;
            }
        }
        return null;
    }
}
