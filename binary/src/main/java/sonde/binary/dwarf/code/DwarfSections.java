package sonde.binary.dwarf.code;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.Optional;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;

/**
 * The sections of one file that say where its code comes from; empty ones for those it lacks.
 *
 * @param big whether numbers have their most significant byte first
 */
record DwarfSections(
        boolean big,
        MemorySegment units,
        MemorySegment abbreviations,
        MemorySegment lines,
        MemorySegment strings,
        MemorySegment lineStrings,
        MemorySegment stringOffsets,
        MemorySegment addresses,
        MemorySegment oldRanges,
        MemorySegment rangeLists,
        MemorySegment addressRanges,
        MemorySegment unitIndex) {

    private static final MemorySegment EMPTY = MemorySegment.ofArray(new byte[0]);

    /**
     * Finds the sections of a file.
     *
     * @param suffix {@code ".dwo"} for what skeleton units left out, else empty
     */
    static DwarfSections of(ElfFile elf, CodeLayout layout, String suffix)
            throws MalformedInputException {
        return new DwarfSections(
                elf.order() == ByteOrder.BIG_ENDIAN,
                read(elf, layout, ".debug_info" + suffix),
                read(elf, layout, ".debug_abbrev" + suffix),
                read(elf, layout, ".debug_line" + suffix),
                read(elf, layout, ".debug_str" + suffix),
                read(elf, layout, ".debug_line_str" + suffix),
                read(elf, layout, ".debug_str_offsets" + suffix),
                read(elf, layout, ".debug_addr"),
                read(elf, layout, ".debug_ranges"),
                read(elf, layout, ".debug_rnglists" + suffix),
                read(elf, layout, ".debug_aranges"),
                read(elf, layout, ".debug_cu_index"));
    }

    private static MemorySegment read(ElfFile elf, CodeLayout layout, String name)
            throws MalformedInputException {
        Optional<ElfSection> section = elf.section(name);
        if (section.isEmpty()) {
            // GNU's compression before SHF_COMPRESSED existed: .zdebug_info
            section = elf.section(".z" + name.substring(1));
        }
        if (section.isEmpty() || section.get().type() == ElfFile.SHT_NOBITS) {
            return EMPTY;
        }
        return elf.content(section.get(), layout::base);
    }

    boolean isEmpty() {
        return units.byteSize() == 0 && lines.byteSize() == 0;
    }

    /** The part of a package that belongs to one unit. */
    DwarfSections part(
            MemorySegment info,
            MemorySegment abbreviation,
            MemorySegment line,
            MemorySegment offsets,
            MemorySegment ranges) {
        return new DwarfSections(
                big,
                info,
                abbreviation,
                line,
                strings,
                lineStrings,
                offsets,
                addresses,
                oldRanges,
                ranges,
                EMPTY,
                EMPTY);
    }
}
