package sonde.binary.dwarf.location;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.AbbreviationTable;
import sonde.binary.dwarf.section.AbbreviationTables;
import sonde.binary.dwarf.section.AttributeForms;
import sonde.binary.dwarf.section.SectionCursor;
import sonde.binary.dwarf.section.UnitHeader;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;

/**
 * The entries of an ELF file's debugging information, DWARF 2 to 5, read when asked for. Opening
 * looks at the headers of units alone. Not safe for several threads.
 */
public final class DebugEntries {
    private static final int MOST_UNITS = 1 << 20;
    private static final int WINDOW = 1 << 8;

    private final ElfFile elf;
    private final String suffix;
    private final @Nullable DebugEntries supplement;
    private final @Nullable DebugEntries host;
    private final @Nullable PackedUnits packed;
    private final Map<String, MemorySegment> sections = new HashMap<>();
    private final AbbreviationTables tables = new AbbreviationTables();
    private final Map<MemorySegment, SectionCursor> cursors = new HashMap<>();
    private final Map<Long, EntryUnit> bySignature = new HashMap<>();
    private final Map<EntryUnit, Long> textBases = new HashMap<>();
    private final Map<EntryUnit, Long> addressBases = new HashMap<>();
    private final Map<EntryUnit, DebugEntry> skeletons = new HashMap<>();
    private final List<EntryUnit> own = new ArrayList<>();
    private final List<EntryUnit> units;
    private final RangeLists ranges = new RangeLists(this);

    private DebugEntries(
            ElfFile elf,
            String suffix,
            @Nullable DebugEntries supplement,
            @Nullable DebugEntries host)
            throws MalformedInputException {
        this(elf, suffix, supplement, host, null, Map.of());
    }

    private DebugEntries(
            ElfFile elf,
            String suffix,
            @Nullable DebugEntries supplement,
            @Nullable DebugEntries host,
            @Nullable PackedUnits packed,
            Map<String, MemorySegment> parts)
            throws MalformedInputException {
        this.elf = elf;
        this.suffix = suffix;
        this.supplement = supplement;
        this.host = host;
        this.packed = packed;
        sections.putAll(parts);
        readSections(".debug_info", false);
        readSections(".debug_types", true);
        units = new ArrayList<>(own);
    }

    /**
     * Of a program, library, kernel or separate debug file; without units when it has none.
     *
     * @throws MalformedInputException when a section lies outside of the file
     */
    public static DebugEntries read(ElfFile elf) throws MalformedInputException {
        return new DebugEntries(elf, "", null, null);
    }

    /** {@link #read} with the file that {@code .gnu_debugaltlink} names (dwz). */
    public static DebugEntries read(ElfFile elf, ElfFile supplementary)
            throws MalformedInputException {
        return new DebugEntries(elf, "", read(supplementary), null);
    }

    /**
     * Of a unit in a {@code .dwp} file.
     *
     * @param parts the sections that are the unit's own
     */
    static DebugEntries readPacked(
            ElfFile elf, Map<String, MemorySegment> parts, DebugEntries host, PackedUnits packed)
            throws MalformedInputException {
        return new DebugEntries(elf, ".dwo", null, host, packed, parts);
    }

    Optional<EntryUnit> typeUnit(long signature) {
        return Optional.ofNullable(bySignature.get(signature));
    }

    /** Finds the files that skeleton units left their entries to (DWARF 5, 3.1.2 and 7.3.5). */
    public interface SplitFiles {
        /** The {@code .dwp} file; it is asked for once, and goes before all others. */
        default Optional<ElfFile> openPackage() {
            return Optional.empty();
        }

        /**
         * The file.
         *
         * @param folder that the name counts from
         * @param id DW_AT_dwo_id, which its unit has too
         */
        Optional<ElfFile> open(String folder, String name, long id);
    }

    /** Puts the units of {@code .dwo} and {@code .dwp} files in the place of their skeletons. */
    public void join(SplitFiles files) throws MalformedInputException {
        @Nullable Optional<PackedUnits> pack = null;
        for (int i = 0; i < own.size(); i++) {
            EntryUnit unit = own.get(i);
            // From version 5 on the head of a unit says what it is.
            boolean whole5 = unit.version() >= 5 && unit.header.type() != UnitHeader.SKELETON;
            DebugEntry root = unit.isType() || whole5 ? null : rootOf(unit);
            if (root != null && !root.splitName().isEmpty()) {
                pack = pack == null ? open(files) : pack;
                EntryUnit whole = split(root, files, pack);
                units.set(i, whole == null ? unit : whole);
            }
        }
        if (pack != null && pack.isPresent()) {
            units.addAll(pack.get().types());
        }
    }

    private Optional<PackedUnits> open(SplitFiles files) {
        Optional<ElfFile> file = files.openPackage();
        try {
            return file.isEmpty()
                    ? Optional.empty()
                    : Optional.of(new PackedUnits(file.get(), this));
        } catch (MalformedInputException e) {
            // The units may lie in files of their own.
            return Optional.empty();
        }
    }

    private @Nullable EntryUnit split(DebugEntry root, SplitFiles files, Optional<PackedUnits> pack)
            throws MalformedInputException {
        boolean old = root.has(DwarfAttribute.GNU_DWO_NAME);
        long id = old ? root.constant(DwarfAttribute.GNU_DWO_ID, 0) : root.unit.header.id();
        DebugEntries split = pack.isPresent() ? pack.get().unit(id) : null;
        if (split == null) {
            ElfFile file =
                    files.open(root.text(DwarfAttribute.COMP_DIR), root.splitName(), id)
                            .orElse(null);
            if (file == null) {
                return null;
            }
            split = new DebugEntries(file, ".dwo", null, this);
        }
        for (EntryUnit unit : split.own) {
            DebugEntry whole = unit.isType() ? null : rootOf(unit);
            boolean fits =
                    whole != null
                            && id
                                    == (old
                                            ? whole.constant(DwarfAttribute.GNU_DWO_ID, 0)
                                            : unit.header.id());
            if (fits) {
                split.skeletons.put(unit, root);
                if (pack.isEmpty()) {
                    split.own.stream().filter(EntryUnit::isType).forEach(units::add);
                }
                return unit;
            }
        }
        return null;
    }

    private static @Nullable DebugEntry rootOf(EntryUnit unit) {
        try {
            return unit.root();
        } catch (MalformedInputException e) {
            // Its entries are lost, those of other units are not.
            return null;
        }
    }

    /** Objects and {@code .dwo} files have a section of the same name for each type unit. */
    private void readSections(String name, boolean types) throws MalformedInputException {
        List<MemorySegment> typed = new ArrayList<>();
        MemorySegment first = null;
        for (ElfSection section : elf.sections()) {
            boolean wanted = section.name().equals(name + suffix) && !sections.containsKey(name);
            if (wanted && section.type() != ElfFile.SHT_NOBITS && typed.size() < MOST_UNITS) {
                MemorySegment bytes = elf.content(section);
                if (first == null && !startsWithType(bytes, types)) {
                    first = bytes;
                } else {
                    typed.add(bytes);
                }
            }
        }
        if (first != null) {
            sections.put(name, first);
        }
        readUnits(section(name), types);
        MemorySegment read = section(name);
        typed.stream().filter(bytes -> !bytes.equals(read)).forEach(one -> readUnits(one, types));
    }

    private boolean startsWithType(MemorySegment section, boolean types) {
        try {
            int type = UnitHeader.read(cursor(section), 0, types).type();
            return types || type == UnitHeader.TYPE || type == UnitHeader.SPLIT_TYPE;
        } catch (MalformedInputException e) {
            return false;
        }
    }

    private void readUnits(MemorySegment section, boolean types) {
        SectionCursor cursor = cursor(section);
        long at = 0;
        while (at < section.byteSize() && own.size() < MOST_UNITS) {
            try {
                UnitHeader header = UnitHeader.read(cursor, at, types);
                if (header.isReadable()) {
                    EntryUnit unit = new EntryUnit(this, section, header);
                    own.add(unit);
                    if (unit.isType()) {
                        bySignature.putIfAbsent(header.id(), unit);
                    }
                }
                at = header.end();
            } catch (MalformedInputException e) {
                // Where one ends wrongly nobody knows where the next begins.
                return;
            }
        }
    }

    /** All units, those of type units last (DWARF 4) or between the others (DWARF 5). */
    public List<EntryUnit> units() {
        return units;
    }

    /** Those units, and those of the file that dwz shares. */
    List<EntryUnit> everyUnit() {
        if (supplement == null) {
            return units;
        }
        List<EntryUnit> every = new ArrayList<>(units);
        every.addAll(supplement.units);
        return every;
    }

    /**
     * All units, with those of the file that dwz shares, in the order in which to look for what has
     * a name: those first that an index of the file names for it. An index is not believed further.
     */
    public List<EntryUnit> unitsFor(String name) {
        TreeSet<Long> likely = DwarfNameIndex.units(this, name);
        List<EntryUnit> every = everyUnit();
        if (likely.isEmpty()) {
            return every;
        }
        List<EntryUnit> sorted = new ArrayList<>(every.size());
        BitSet first = new BitSet();
        for (int i = 0; i < own.size(); i++) {
            if (likely.contains(own.get(i).offset)) {
                first.set(i);
                sorted.add(units.get(i));
            }
        }
        for (int i = 0; i < every.size(); i++) {
            if (!first.get(i)) {
                sorted.add(every.get(i));
            }
        }
        return sorted;
    }

    /** The file they are of. */
    public ElfFile elf() {
        return host == null ? elf : host.elf();
    }

    /** Whether numbers have their most significant byte first. */
    boolean isBig() {
        return elf.order() == ByteOrder.BIG_ENDIAN;
    }

    /** The cursor over a section that all share: it stands anywhere. */
    SectionCursor cursor(MemorySegment section) {
        return cursors.computeIfAbsent(section, bytes -> new SectionCursor(bytes, isBig(), WINDOW));
    }

    /** A cursor over a section that nobody else moves. */
    SectionCursor cursor(MemorySegment section, long at) throws MalformedInputException {
        SectionCursor cursor = new SectionCursor(section, isBig(), WINDOW);
        cursor.seek(at);
        return cursor;
    }

    RangeLists ranges() {
        return ranges;
    }

    /** The entry of the skeleton unit that a split one belongs to; null for others. */
    @Nullable DebugEntry skeleton(EntryUnit unit) {
        return skeletons.get(unit);
    }

    /** Where addresses and ranges of a unit are: the program, never the {@code .dwo} file. */
    DebugEntries addresses() {
        return host == null ? this : host;
    }

    /** A section's bytes, decompressed; of none for one that is not there. */
    MemorySegment section(String name) throws MalformedInputException {
        MemorySegment known = sections.get(name);
        if (known == null) {
            Optional<ElfSection> section = elf.section(name + suffix);
            boolean there = section.isPresent() && section.get().type() != ElfFile.SHT_NOBITS;
            known = there ? elf.content(section.get()) : MemorySegment.ofArray(new byte[0]);
            sections.put(name, known);
        }
        return known;
    }

    AbbreviationTable abbreviations(UnitHeader unit) throws MalformedInputException {
        return tables.of(cursor(section(".debug_abbrev")), unit);
    }

    /** A word in a table; empty where the table is shorter. */
    private OptionalLong word(String name, long base, long index, int sizeBytes)
            throws MalformedInputException {
        SectionCursor cursor = cursor(section(name));
        if (base < 0 || index < 0 || index >= (cursor.size() - base) / sizeBytes) {
            return OptionalLong.empty();
        }
        cursor.seek(base + index * sizeBytes);
        return OptionalLong.of(cursor.unsigned(sizeBytes));
    }

    OptionalLong address(EntryUnit unit, int form, long value) throws MalformedInputException {
        if (form == AttributeForms.ADDR) {
            return OptionalLong.of(value);
        }
        return AttributeForms.isAddressIndex(form) ? indexed(unit, value) : OptionalLong.empty();
    }

    /** An entry of {@code .debug_addr} (DWARF 5, 7.27). */
    OptionalLong indexed(EntryUnit unit, long index) throws MalformedInputException {
        Long base = addressBases.get(unit);
        if (base == null) {
            DebugEntry root = unit.base();
            boolean old = root.has(DwarfAttribute.GNU_ADDR_BASE);
            long header = unit.version() < 5 ? 0 : unit.offsetBytes == 8 ? 16 : 8;
            base =
                    root.constant(
                            old ? DwarfAttribute.GNU_ADDR_BASE : DwarfAttribute.ADDR_BASE, header);
            addressBases.put(unit, base);
        }
        return addresses().word(".debug_addr", base, index, unit.addressBytes());
    }

    String text(EntryUnit unit, int form, long value) throws MalformedInputException {
        MemorySegment in = textSection(unit, form);
        return in == null ? "" : cursor(in).text(textStart(unit, form, value));
    }

    /** Whether a text is made of those bytes: without making one. */
    boolean isText(DebugEntry entry, int form, long value, byte[] wanted)
            throws MalformedInputException {
        MemorySegment in = textSection(entry.unit, form);
        return in != null && isText(in, textStart(entry.unit, form, value), wanted);
    }

    /** Whether a text at a place of a section is made of those bytes. */
    boolean isText(MemorySegment in, long from, byte[] wanted) {
        if (from < 0 || in.byteSize() - from <= wanted.length) {
            return false;
        }
        long end = from + wanted.length;
        MemorySegment bytes = MemorySegment.ofArray(wanted);
        return in.get(ValueLayout.JAVA_BYTE, end) == 0
                && MemorySegment.mismatch(in, from, end, bytes, 0, wanted.length) < 0;
    }

    private @Nullable MemorySegment textSection(EntryUnit unit, int form)
            throws MalformedInputException {
        return switch (form) {
            case AttributeForms.STRING -> unit.section;
            case AttributeForms.STRP -> section(".debug_str");
            case AttributeForms.LINE_STRP -> section(".debug_line_str");
            case AttributeForms.STRP_SUP, AttributeForms.GNU_STRP_ALT ->
                    supplement == null ? null : supplement.section(".debug_str");
            default -> AttributeForms.isStringIndex(form) ? section(".debug_str") : null;
        };
    }

    private long textStart(EntryUnit unit, int form, long value) throws MalformedInputException {
        return AttributeForms.isStringIndex(form) ? indexedText(unit, value) : value;
    }

    /** An entry of {@code .debug_str_offsets} (DWARF 5, 7.26); -1 for none. */
    private long indexedText(EntryUnit unit, long index) throws MalformedInputException {
        Long base = textBases.get(unit);
        if (base == null) {
            base = unit.version() < 5 ? 0L : unit.offsetBytes == 8 ? 16L : 8L;
            textBases.put(unit, base);
            if (host == null) {
                base = unit.root().constant(DwarfAttribute.STR_OFFSETS_BASE, base);
                textBases.put(unit, base);
            }
        }
        return word(".debug_str_offsets", base, index, unit.offsetBytes).orElse(-1);
    }

    /** A text of the line table's head. */
    String lineText(EntryUnit unit, MemorySegment lines, int form, long value)
            throws MalformedInputException {
        return form == AttributeForms.STRING ? cursor(lines).text(value) : text(unit, form, value);
    }

    @Nullable DebugEntry refer(EntryUnit from, int form, long value)
            throws MalformedInputException {
        if (AttributeForms.isLocal(form)) {
            return from.entry(from.offset + value);
        }
        if (form == AttributeForms.REF_SIG8) {
            EntryUnit unit = bySignature.get(value);
            if (unit == null && packed != null) {
                unit = packed.type(value);
            }
            return unit == null ? null : unit.entry(unit.offset + unit.header.typeOffset());
        }
        if (AttributeForms.isSupplement(form)) {
            return supplement == null ? null : supplement.at(value);
        }
        return form == AttributeForms.REF_ADDR ? at(value) : null;
    }

    /** The entry at an offset of {@code .debug_info}; null for none. */
    public @Nullable DebugEntry at(long offset) throws MalformedInputException {
        int low = 0;
        int high = own.size() - 1;
        MemorySegment information = section(".debug_info");
        while (low <= high) {
            int middle = (low + high) >>> 1;
            EntryUnit unit = own.get(middle);
            // Those of .debug_types stand behind all others.
            if (offset < unit.first() || !unit.section.equals(information)) {
                high = middle - 1;
            } else if (offset >= unit.end()) {
                low = middle + 1;
            } else {
                return unit.entry(offset);
            }
        }
        return null;
    }
}
