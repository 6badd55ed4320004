package sonde.binary.elf;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import sonde.binary.MalformedInputException;

/** Reads the two header tables of either class (gABI chapters 4 and 5). */
final class TableReader {
    /** Bounds: more than any known file has, little enough to hold in the heap. */
    private static final int SECTION_LIMIT = 1 << 20;

    private static final int SEGMENT_LIMIT = 1 << 17;
    private static final int SECTION_NAME_LIMIT = 1024;

    /** Escape of e_phnum: the number stands in section 0 (gABI "Program Header"). */
    private static final int PN_XNUM = 0xffff;

    private final ElfBytes bytes;
    private final ElfHeader header;

    TableReader(ElfBytes bytes, ElfHeader header) {
        this.bytes = bytes;
        this.header = header;
    }

    List<ElfSection> sections() throws MalformedInputException {
        long table = header.sectionOffset();
        int entryBytes = header.sectionBytes();
        if (table == 0) {
            return List.of();
        }
        requireEntry("e_shentsize", entryBytes, bytes.wide ? 64 : 40);
        bytes.slice("section header table", table, entryBytes);
        long count = header.sectionCount();
        if (count == 0) {
            // extended numbering: sh_size of section 0
            count = bytes.address(table + (bytes.wide ? 32 : 20));
        }
        long nameIndex = header.nameSection();
        if (nameIndex == ElfSymbols.SHN_XINDEX) {
            // extended numbering: sh_link of section 0
            nameIndex = bytes.u32(table + (bytes.wide ? 40 : 24));
        }
        if (count < 0 || count > SECTION_LIMIT) {
            throw new MalformedInputException(
                    "ELF", "e_shnum", table, Long.toUnsignedString(count));
        }
        bytes.slice("section header table", table, count * entryBytes);
        MemorySegment names = names(table, entryBytes, count, nameIndex);
        List<ElfSection> list = new ArrayList<>((int) count);
        for (int i = 0; i < count; i++) {
            list.add(section(i, table + (long) i * entryBytes, names));
        }
        return List.copyOf(list);
    }

    private MemorySegment names(long table, int entryBytes, long count, long index) {
        MemorySegment none = MemorySegment.ofArray(new byte[0]);
        if (index >= count) {
            return none;
        }
        long at = table + index * entryBytes;
        long offset = bytes.address(at + (bytes.wide ? 24 : 16));
        long size = bytes.address(at + (bytes.wide ? 32 : 20));
        return bytes.holds(offset, size) ? bytes.file.asSlice(offset, size) : none;
    }

    /** Elf64_Shdr or Elf32_Shdr: name, type, flags, addr, offset, size, link, info, align, size. */
    private ElfSection section(int index, long at, MemorySegment names) {
        int word = bytes.wide ? 8 : 4;
        long after = at + 8 + 4L * word;
        return new ElfSection(
                index,
                ElfBytes.string(names, bytes.u32(at), SECTION_NAME_LIMIT),
                (int) bytes.u32(at + 4),
                bytes.address(at + 8),
                bytes.address(at + 8 + word),
                bytes.address(at + 8 + 2L * word),
                bytes.address(at + 8 + 3L * word),
                (int) bytes.u32(after),
                (int) bytes.u32(after + 4),
                bytes.address(after + 8),
                bytes.address(after + 8 + word));
    }

    List<ElfSegment> segments(List<ElfSection> sections) throws MalformedInputException {
        long table = header.segmentOffset();
        long count = header.segmentCount();
        if (count == PN_XNUM && !sections.isEmpty()) {
            count = Integer.toUnsignedLong(sections.getFirst().info());
        }
        if (table == 0 || count == 0) {
            return List.of();
        }
        int entryBytes = header.segmentBytes();
        requireEntry("e_phentsize", entryBytes, bytes.wide ? 56 : 32);
        if (count > SEGMENT_LIMIT) {
            throw new MalformedInputException("ELF", "e_phnum", table, Long.toString(count));
        }
        bytes.slice("program header table", table, count * entryBytes);
        List<ElfSegment> list = new ArrayList<>((int) count);
        for (int i = 0; i < count; i++) {
            list.add(segment(table + (long) i * entryBytes));
        }
        return List.copyOf(list);
    }

    /** Elf64_Phdr or Elf32_Phdr; p_flags stands at different places. */
    private ElfSegment segment(long at) {
        int word = bytes.wide ? 8 : 4;
        long fields = at + word;
        return new ElfSegment(
                (int) bytes.u32(at),
                (int) bytes.u32(bytes.wide ? at + 4 : at + 24),
                bytes.address(fields),
                bytes.address(fields + word),
                bytes.address(fields + 2L * word),
                bytes.address(fields + 3L * word),
                bytes.address(fields + 4L * word),
                bytes.address(bytes.wide ? at + 48 : at + 28));
    }

    private static void requireEntry(String field, int found, int least)
            throws MalformedInputException {
        if (found < least) {
            throw new MalformedInputException("ELF", field, -1, found + ", least " + least);
        }
    }
}
