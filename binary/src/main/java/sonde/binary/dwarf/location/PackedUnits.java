package sonde.binary.dwarf.location;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.PackageIndex;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;

/** The units of a {@code .dwp} file, each with its parts of the sections. */
final class PackedUnits {
    /** Type units whose names are searched; references reach all. */
    private static final int MOST_TYPES = 20_000;

    private final ElfFile file;
    private final DebugEntries host;
    private final PackageIndex units;
    private final PackageIndex types;
    private final Map<String, MemorySegment> sections = new HashMap<>();
    private final Map<Long, Optional<EntryUnit>> known = new HashMap<>();

    PackedUnits(ElfFile file, DebugEntries host) throws MalformedInputException {
        this.file = file;
        this.host = host;
        boolean big = file.order() == ByteOrder.BIG_ENDIAN;
        units = new PackageIndex(section(".debug_cu_index"), big);
        types = new PackageIndex(section(".debug_tu_index"), big);
    }

    private MemorySegment section(String name) throws MalformedInputException {
        MemorySegment bytes = sections.get(name);
        if (bytes == null) {
            Optional<ElfSection> section = file.section(name);
            boolean there = section.isPresent() && section.get().type() != ElfFile.SHT_NOBITS;
            bytes = there ? file.content(section.get()) : MemorySegment.ofArray(new byte[0]);
            sections.put(name, bytes);
        }
        return bytes;
    }

    /** The entries that a skeleton unit left out; null when they are not here. */
    @Nullable DebugEntries unit(long id) throws MalformedInputException {
        int row = units.row(id);
        return row == 0 ? null : entries(units, row, ".debug_info");
    }

    /** A type unit; null when it is not here. */
    @Nullable EntryUnit type(long signature) throws MalformedInputException {
        Optional<EntryUnit> found = known.get(signature);
        if (found == null) {
            int row = types.row(signature);
            String in = types.version() == 2 ? ".debug_types" : ".debug_info";
            found = row == 0 ? Optional.empty() : entries(types, row, in).typeUnit(signature);
            known.put(signature, found);
        }
        return found.orElse(null);
    }

    /** The type units, as far as they can be read. */
    List<EntryUnit> types() {
        List<EntryUnit> all = new ArrayList<>();
        for (long signature : types.ids().stream().sorted().limit(MOST_TYPES).toList()) {
            try {
                EntryUnit unit = type(signature);
                if (unit != null) {
                    all.add(unit);
                }
            } catch (MalformedInputException e) {
                // The others are there.
                continue;
            }
        }
        return all;
    }

    private DebugEntries entries(PackageIndex index, int row, String in)
            throws MalformedInputException {
        Map<String, MemorySegment> parts = new HashMap<>();
        MemorySegment none = MemorySegment.ofArray(new byte[0]);
        parts.put(".debug_info", none);
        parts.put(".debug_types", none);
        int kind = in.equals(".debug_types") ? PackageIndex.TYPES : PackageIndex.INFO;
        // Sections are told apart by their bytes: those of a unit are its own.
        byte[] own = index.part(section(in + ".dwo"), kind, row).toArray(ValueLayout.JAVA_BYTE);
        parts.put(in, MemorySegment.ofArray(own).asReadOnly());
        put(parts, index, row, ".debug_abbrev", PackageIndex.ABBREV);
        put(parts, index, row, ".debug_line", PackageIndex.LINE);
        put(parts, index, row, ".debug_str_offsets", PackageIndex.STR_OFFSETS);
        if (index.version() == 5) {
            put(parts, index, row, ".debug_loclists", PackageIndex.LOCATIONS);
            put(parts, index, row, ".debug_rnglists", PackageIndex.RNGLISTS);
        } else {
            put(parts, index, row, ".debug_loc", PackageIndex.LOCATIONS);
        }
        parts.put(".debug_str", section(".debug_str.dwo"));
        return DebugEntries.readPacked(file, parts, host, this);
    }

    private void put(
            Map<String, MemorySegment> parts, PackageIndex index, int row, String name, int kind)
            throws MalformedInputException {
        parts.put(name, index.part(section(name + ".dwo"), kind, row));
    }
}
