package sonde.format.dwarf.location;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import sonde.format.MalformedInputException;
import sonde.format.elf.ElfFile;
import sonde.format.elf.Section;

/**
 * The entries of an ELF file's debugging information, DWARF 2 to 5, read when asked for. Opening
 * looks at the headers of units alone. Not safe for several threads.
 */
public final class Entries {
    private static final int MOST_UNITS = 1 << 20;
    private static final int MOST_NAME_BYTES = 1 << 16;

    private final ElfFile elf;
    private final String suffix;
    private final @Nullable Entries supplement;
    private final @Nullable Entries host;
    private final Map<String, MemorySegment> sections = new HashMap<>();
    private final Map<Long, EntryShape.Table> shapes = new HashMap<>();
    private final Map<Long, EntryUnit> bySignature = new HashMap<>();
    private final Map<EntryUnit, Long> textBases = new HashMap<>();
    private final Map<EntryUnit, Long> addressBases = new HashMap<>();
    private final Map<EntryUnit, Entry> skeletons = new HashMap<>();
    private final List<EntryUnit> own = new ArrayList<>();
    private final List<EntryUnit> units;
    private final RangeLists ranges = new RangeLists(this);

    private Entries(
            ElfFile elf, String suffix, @Nullable Entries supplement, @Nullable Entries host)
            throws MalformedInputException {
        this.elf = elf;
        this.suffix = suffix;
        this.supplement = supplement;
        this.host = host;
        readUnits(section(".debug_info"), false);
        readUnits(section(".debug_types"), true);
        units = new ArrayList<>(own);
    }

    /**
     * Of a program, library, kernel or separate debug file; without units when it has none.
     *
     * @throws MalformedInputException when a section lies outside of the file
     */
    public static Entries read(ElfFile elf) throws MalformedInputException {
        return new Entries(elf, "", null, null);
    }

    /** {@link #read} with the file that {@code .gnu_debugaltlink} names (dwz). */
    public static Entries read(ElfFile elf, ElfFile supplementary) throws MalformedInputException {
        return new Entries(elf, "", read(supplementary), null);
    }

    /** Finds the file that a skeleton unit left its entries to (DWARF 5, 3.1.2). */
    public interface SplitFiles {
        /**
         * The file.
         *
         * @param folder that the name counts from
         * @param id DW_AT_dwo_id, which its unit has too
         */
        Optional<ElfFile> open(String folder, String name, long id);
    }

    /** Puts the units of {@code .dwo} files in the place of their skeletons, where they are. */
    public void join(SplitFiles files) throws MalformedInputException {
        for (int i = 0; i < units.size(); i++) {
            EntryUnit unit = units.get(i);
            Entry root = unit.isType() ? null : rootOf(unit);
            if (root != null) {
                EntryUnit whole = split(root, files);
                units.set(i, whole == null ? unit : whole);
            }
        }
    }

    private @Nullable EntryUnit split(Entry root, SplitFiles files) throws MalformedInputException {
        boolean old = root.has(Attribute.GNU_DWO_NAME);
        String name = root.text(old ? Attribute.GNU_DWO_NAME : Attribute.DWO_NAME);
        if (name.isEmpty()) {
            return null;
        }
        long id = old ? root.constant(Attribute.GNU_DWO_ID, 0) : root.unit.signature;
        ElfFile file = files.open(root.text(Attribute.COMP_DIR), name, id).orElse(null);
        if (file == null) {
            return null;
        }
        Entries split = new Entries(file, ".dwo", null, this);
        for (EntryUnit unit : split.own) {
            Entry whole = unit.isType() ? null : rootOf(unit);
            boolean fits =
                    whole != null
                            && id
                                    == (old
                                            ? whole.constant(Attribute.GNU_DWO_ID, 0)
                                            : unit.signature);
            if (fits) {
                split.skeletons.put(unit, root);
                return unit;
            }
        }
        return null;
    }

    private static @Nullable Entry rootOf(EntryUnit unit) {
        try {
            return unit.root();
        } catch (MalformedInputException e) {
            // Its entries are lost, those of other units are not.
            return null;
        }
    }

    private void readUnits(MemorySegment section, boolean types) {
        long at = 0;
        while (at < section.byteSize() && own.size() < MOST_UNITS) {
            try {
                EntryUnit unit = new EntryUnit(this, section, at, types);
                own.add(unit);
                if (unit.isType()) {
                    bySignature.putIfAbsent(unit.signature, unit);
                }
                at = unit.end();
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

    /** The file they are of. */
    public ElfFile elf() {
        return host == null ? elf : host.elf();
    }

    ByteOrder order() {
        return elf.order();
    }

    RangeLists ranges() {
        return ranges;
    }

    /** The entry of the skeleton unit that a split one belongs to; null for others. */
    @Nullable Entry skeleton(EntryUnit unit) {
        return skeletons.get(unit);
    }

    /** Where addresses and ranges of a unit are: the program, never the {@code .dwo} file. */
    Entries addresses() {
        return host == null ? this : host;
    }

    /** A section's bytes, decompressed; of none for one that is not there. */
    MemorySegment section(String name) throws MalformedInputException {
        MemorySegment known = sections.get(name);
        if (known == null) {
            Optional<Section> section = elf.section(name + suffix);
            boolean there = section.isPresent() && section.get().type() != ElfFile.SHT_NOBITS;
            known = there ? elf.content(section.get()) : MemorySegment.ofArray(new byte[0]);
            sections.put(name, known);
        }
        return known;
    }

    EntryShape.Table shapes(long offset) throws MalformedInputException {
        EntryShape.Table known = shapes.get(offset);
        if (known == null) {
            known = new EntryShape.Table(section(".debug_abbrev"), order(), offset);
            shapes.put(offset, known);
        }
        return known;
    }

    /** A word of {@code sizeBytes} in a table; empty where the table is shorter. */
    private OptionalLong word(MemorySegment in, long at, int sizeBytes) {
        if (at < 0 || at > in.byteSize() - sizeBytes) {
            return OptionalLong.empty();
        }
        return OptionalLong.of(
                switch (sizeBytes) {
                    case 8 -> in.get(ValueLayout.JAVA_LONG_UNALIGNED.withOrder(order()), at);
                    case 4 ->
                            in.get(ValueLayout.JAVA_INT_UNALIGNED.withOrder(order()), at)
                                    & 0xffff_ffffL;
                    default ->
                            in.get(ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(order()), at)
                                    & 0xffffL;
                });
    }

    OptionalLong address(EntryUnit unit, int form, long value) throws MalformedInputException {
        if (form == Form.ADDR) {
            return OptionalLong.of(value);
        }
        return Form.isAddressIndex(form) ? indexed(unit, value) : OptionalLong.empty();
    }

    /** An entry of {@code .debug_addr} (DWARF 5, 7.27). */
    OptionalLong indexed(EntryUnit unit, long index) throws MalformedInputException {
        Long base = addressBases.get(unit);
        if (base == null) {
            Entry root = unit.base();
            boolean old = root.has(Attribute.GNU_ADDR_BASE);
            long header = unit.version() < 5 ? 0 : unit.offsetBytes == 8 ? 16 : 8;
            base = root.constant(old ? Attribute.GNU_ADDR_BASE : Attribute.ADDR_BASE, header);
            addressBases.put(unit, base);
        }
        int bytes = unit.addressBytes();
        boolean fits = index >= 0 && index <= Long.MAX_VALUE / 16 && base >= 0;
        return fits
                ? word(addresses().section(".debug_addr"), base + index * bytes, bytes)
                : OptionalLong.empty();
    }

    String text(Entry entry, int form, long value) throws MalformedInputException {
        return switch (form) {
            case Form.STRING -> text(entry.unit.section, value);
            case Form.STRP -> text(section(".debug_str"), value);
            case Form.LINE_STRP -> text(section(".debug_line_str"), value);
            case Form.STRP_SUP, Form.GNU_STRP_ALT ->
                    supplement == null ? "" : text(supplement.section(".debug_str"), value);
            default ->
                    Form.isTextIndex(form)
                            ? text(section(".debug_str"), indexedText(entry.unit, value))
                            : "";
        };
    }

    /** An entry of {@code .debug_str_offsets} (DWARF 5, 7.26); -1 for none. */
    private long indexedText(EntryUnit unit, long index) throws MalformedInputException {
        Long base = textBases.get(unit);
        if (base == null) {
            base = unit.version() < 5 ? 0L : unit.offsetBytes == 8 ? 16L : 8L;
            textBases.put(unit, base);
            if (host == null) {
                base = unit.root().constant(Attribute.STR_OFFSETS_BASE, base);
                textBases.put(unit, base);
            }
        }
        int bytes = unit.offsetBytes;
        boolean fits = index >= 0 && index <= Long.MAX_VALUE / 16 && base >= 0;
        return fits
                ? word(section(".debug_str_offsets"), base + index * bytes, bytes).orElse(-1)
                : -1;
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

    /** A text of the line table's header. */
    String lineText(EntryUnit unit, MemorySegment lines, int form, long value)
            throws MalformedInputException {
        return form == Form.STRING ? text(lines, value) : text(unit.root(), form, value);
    }

    @Nullable Entry refer(EntryUnit from, int form, long value) throws MalformedInputException {
        if (Form.isLocalReference(form)) {
            return from.entry(from.offset + value);
        }
        if (form == Form.REF_SIG8) {
            EntryUnit unit = bySignature.get(value);
            return unit == null ? null : unit.entry(unit.offset + unit.typeOffset);
        }
        if (Form.isSupplementary(form)) {
            return supplement == null ? null : supplement.at(value);
        }
        return form == Form.REF_ADDR ? at(value) : null;
    }

    /** The entry at an offset of {@code .debug_info}; null for none. */
    public @Nullable Entry at(long offset) throws MalformedInputException {
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
