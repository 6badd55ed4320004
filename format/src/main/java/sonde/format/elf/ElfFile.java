package sonde.format.elf;

import static java.nio.ByteOrder.BIG_ENDIAN;
import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import sonde.format.MalformedInputException;
import sonde.sys.TargetFile;

/**
 * An ELF file over its bytes: header and tables read at once, contents when asked for.
 *
 * <p>Immutable; as shareable between threads as the segment is.
 */
public final class ElfFile {
    public static final int ET_REL = 1;
    public static final int ET_EXEC = 2;
    public static final int ET_DYN = 3;
    public static final int ET_CORE = 4;

    public static final int PT_LOAD = 1;
    public static final int PT_DYNAMIC = 2;
    public static final int PT_NOTE = 4;
    public static final int PF_X = 1;

    public static final int SHT_PROGBITS = 1;
    public static final int SHT_SYMTAB = 2;
    public static final int SHT_STRTAB = 3;
    public static final int SHT_RELA = 4;
    public static final int SHT_NOTE = 7;
    public static final int SHT_NOBITS = 8;
    public static final int SHT_REL = 9;
    public static final int SHT_DYNSYM = 11;
    public static final int SHT_SYMTAB_SHNDX = 18;

    public static final long SHF_WRITE = 1;
    public static final long SHF_ALLOC = 2;
    public static final long SHF_EXECINSTR = 4;
    public static final long SHF_COMPRESSED = 0x800;

    /** Machines (e_machine) this project speaks of by name. */
    public static final int EM_386 = 3;

    public static final int EM_ARM = 40;
    public static final int EM_X86_64 = 62;
    public static final int EM_AARCH64 = 183;
    public static final int EM_RISCV = 243;
    public static final int EM_BPF = 247;

    /** Bounds: more than any known file has, little enough to hold in the heap. */
    static final int SECTION_LIMIT = 1 << 20;

    static final int SEGMENT_LIMIT = 1 << 17;
    static final long TABLE_LIMIT_BYTES = 256L << 20;
    private static final int NOTE_LIMIT = 1 << 16;
    private static final int RELOCATION_LIMIT = 1 << 22;
    private static final int SECTION_NAME_LIMIT = 1024;

    /** Escape of e_phnum: the number stands in section 0 (gABI "Program Header"). */
    private static final int PN_XNUM = 0xffff;

    private static final int ELFCOMPRESS_ZLIB = 1;

    private final MemorySegment file;
    private final boolean wide;
    private final ByteOrder order;
    private final ValueLayout.OfShort half;
    private final ValueLayout.OfInt word;
    private final ValueLayout.OfLong xword;
    private final List<Section> sections;
    private final List<Segment> segments;

    private ElfFile(MemorySegment file) throws MalformedInputException {
        this.file = file;
        if (file.byteSize() < 52 || int32(file, 0, BIG_ENDIAN) != 0x7f454c46) {
            throw new MalformedInputException("ELF", "e_ident", 0, "no ELF magic");
        }
        wide = bit(4, "EI_CLASS", 2);
        order = bit(5, "EI_DATA", 2) ? BIG_ENDIAN : LITTLE_ENDIAN;
        half = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(order);
        word = ValueLayout.JAVA_INT_UNALIGNED.withOrder(order);
        xword = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(order);
        if (wide && file.byteSize() < 64) {
            throw new MalformedInputException("ELF", "header", 0, file.byteSize() + " bytes");
        }
        sections = readSections();
        segments = readSegments();
    }

    /**
     * Reads header, sections and segments.
     *
     * @throws MalformedInputException when this is no ELF file or a table lies outside of it
     */
    public static ElfFile of(MemorySegment file) throws MalformedInputException {
        return new ElfFile(file);
    }

    /** {@link #of(MemorySegment)} of a file, which stays open while contents are asked for. */
    public static ElfFile of(TargetFile file) throws MalformedInputException {
        return of(file.bytes());
    }

    /** {@link #of(MemorySegment)} of an image in the heap. */
    public static ElfFile of(byte[] image) throws MalformedInputException {
        return of(MemorySegment.ofArray(image));
    }

    /** Whether it is of class ELFCLASS64. */
    public boolean is64() {
        return wide;
    }

    /** Byte order of every number in it. */
    public ByteOrder order() {
        return order;
    }

    /** ET_*. */
    public int type() {
        return u16(16);
    }

    /** EM_*. */
    public int machine() {
        return u16(18);
    }

    /** Address where the program starts, as stated in the ELF. */
    public long entry() {
        return address(24);
    }

    /** All sections in the order of the table; the first is the reserved one. */
    public List<Section> sections() {
        return sections;
    }

    /** The first section of a name. */
    public Optional<Section> section(String name) {
        return sections.stream().filter(s -> s.name().equals(name)).findFirst();
    }

    /** All segments in the order of the table. */
    public List<Segment> segments() {
        return segments;
    }

    /** The alignment that a section asks for, sh_addralign; 0 and 1 for none. */
    public long alignment(Section section) {
        return address(
                address(wide ? 40 : 32)
                        + (long) section.index() * u16(wide ? 58 : 46)
                        + (wide ? 48 : 32));
    }

    /**
     * Bytes of a section, inflated when it is compressed with zlib.
     *
     * @throws MalformedInputException when it lies outside the file, states more than 256 MiB of
     *     inflated bytes, or is compressed in another way
     */
    public MemorySegment content(Section section) throws MalformedInputException {
        if (section.type() == SHT_NOBITS) {
            return MemorySegment.ofArray(new byte[0]);
        }
        MemorySegment raw = slice(section.name(), section.offset(), section.sizeBytes());
        return (section.flags() & SHF_COMPRESSED) == 0 ? raw : inflate(section, raw);
    }

    /**
     * Bytes of a segment as they lie in the file.
     *
     * @throws MalformedInputException when it lies outside the file
     */
    public MemorySegment content(Segment segment) throws MalformedInputException {
        return slice("segment", segment.offset(), segment.fileBytes());
    }

    /**
     * The first symbol table of a type, SHT_SYMTAB or SHT_DYNSYM, with its strings.
     *
     * @throws MalformedInputException when table or strings lie outside the file or pass 256 MiB
     */
    public Optional<ElfSymbols> symbols(int sectionType) throws MalformedInputException {
        for (Section section : sections) {
            if (section.type() == sectionType) {
                return Optional.of(SymbolReader.read(this, section));
            }
        }
        return Optional.empty();
    }

    /**
     * The entries of a relocation table, SHT_REL or SHT_RELA, of a file of class ELFCLASS64.
     *
     * @throws MalformedInputException for a table of another kind, with entries of another size, or
     *     that lies outside the file
     */
    public List<Relocation> relocations(Section table) throws MalformedInputException {
        boolean addends = table.type() == SHT_RELA;
        int entryBytes = addends ? 24 : 16;
        if (!wide
                || !addends && table.type() != SHT_REL
                || table.entryBytes() != 0 && table.entryBytes() != entryBytes) {
            throw new MalformedInputException(
                    "ELF", table.name() + " sh_entsize", table.offset(), "" + table.entryBytes());
        }
        MemorySegment bytes = content(table);
        long count = bytes.byteSize() / entryBytes;
        if (count > RELOCATION_LIMIT) {
            throw new MalformedInputException(
                    "ELF", table.name() + " sh_size", table.offset(), "" + bytes.byteSize());
        }
        List<Relocation> list = new ArrayList<>((int) count);
        for (long at = 0; at < count * entryBytes; at += entryBytes) {
            long info = bytes.get(xword, at + 8);
            long addend = addends ? bytes.get(xword, at + 16) : 0;
            list.add(new Relocation(bytes.get(xword, at), (int) info, (int) (info >>> 32), addend));
        }
        return List.copyOf(list);
    }

    /** Notes of all note sections, or where there are no sections of all note segments. */
    public List<Note> notes() {
        List<Note> notes = new ArrayList<>();
        for (Section section : sections) {
            if (section.type() == SHT_NOTE && (section.flags() & SHF_COMPRESSED) == 0) {
                readNotes(notes, section.offset(), section.sizeBytes(), 4);
            }
        }
        if (notes.isEmpty()) {
            for (Segment segment : segments) {
                if (segment.type() == PT_NOTE) {
                    int alignment = segment.alignment() == 8 ? 8 : 4;
                    readNotes(notes, segment.offset(), segment.fileBytes(), alignment);
                }
            }
        }
        return notes;
    }

    /** The build-id of the GNU note, usually 20 bytes. */
    public Optional<byte[]> buildId() {
        return notes().stream()
                .filter(n -> n.type() == Note.NT_GNU_BUILD_ID && n.owner().equals("GNU"))
                .map(Note::description)
                .filter(id -> id.length > 0 && id.length <= 64)
                .findFirst();
    }

    /** The name of the separate debug file, when there is one and it is a plain name. */
    public Optional<DebugLink> debugLink() throws MalformedInputException {
        Optional<Section> section = section(".gnu_debuglink");
        if (section.isEmpty() || section.get().sizeBytes() > 4096) {
            return Optional.empty();
        }
        MemorySegment bytes = content(section.get());
        String name = string(bytes, 0, 4096);
        long crcAt = (name.getBytes(StandardCharsets.UTF_8).length + 4L) & ~3L;
        if (name.isEmpty() || name.indexOf('/') >= 0 || crcAt + 4 > bytes.byteSize()) {
            return Optional.empty();
        }
        return Optional.of(new DebugLink(name, int32(bytes, crcAt, order)));
    }

    /**
     * The address stated in the ELF for an offset in the file, by the loaded segments; code
     * segments are asked first, because a page at a border is mapped twice.
     *
     * @return -1 when no segment holds it
     */
    public long addressOf(long fileOffset) {
        for (int pass = 0; pass < 2; pass++) {
            for (Segment s : segments) {
                if ((pass == 0 ? s.isCode() : s.type() == PT_LOAD)
                        && Long.compareUnsigned(fileOffset - s.offset(), s.fileBytes()) < 0) {
                    return fileOffset - s.offset() + s.address();
                }
            }
        }
        return -1;
    }

    MemorySegment slice(String what, long offset, long sizeBytes) throws MalformedInputException {
        if (offset < 0 || sizeBytes < 0 || offset > file.byteSize() - sizeBytes) {
            throw new MalformedInputException(
                    "ELF", what, offset, sizeBytes + " bytes of " + file.byteSize());
        }
        return file.asSlice(offset, sizeBytes);
    }

    private static int int32(MemorySegment bytes, long offset, ByteOrder order) {
        return bytes.get(ValueLayout.JAVA_INT_UNALIGNED.withOrder(order), offset);
    }

    private boolean bit(long offset, String field, int set) throws MalformedInputException {
        byte value = file.get(ValueLayout.JAVA_BYTE, offset);
        if (value != 1 && value != 2) {
            throw new MalformedInputException("ELF", field, offset, "" + value);
        }
        return value == set;
    }

    private int u16(long offset) {
        return Short.toUnsignedInt(file.get(half, offset));
    }

    private long u32(long offset) {
        return Integer.toUnsignedLong(file.get(word, offset));
    }

    /** A number as wide as the class. */
    private long address(long offset) {
        return wide ? file.get(xword, offset) : u32(offset);
    }

    private List<Section> readSections() throws MalformedInputException {
        long table = address(wide ? 40 : 32);
        int entryBytes = u16(wide ? 58 : 46);
        long count = u16(wide ? 60 : 48);
        long nameIndex = u16(wide ? 62 : 50);
        if (table == 0) {
            return List.of();
        }
        requireEntry("e_shentsize", entryBytes, wide ? 64 : 40);
        slice("section header table", table, entryBytes);
        if (count == 0) {
            // extended numbering: sh_size of section 0
            count = address(table + (wide ? 32 : 20));
        }
        if (nameIndex == ElfSymbols.SHN_XINDEX) {
            // extended numbering: sh_link of section 0
            nameIndex = u32(table + (wide ? 40 : 24));
        }
        if (count < 0 || count > SECTION_LIMIT) {
            throw new MalformedInputException("ELF", "e_shnum", table, Long.toString(count));
        }
        slice("section header table", table, count * entryBytes);
        MemorySegment names = sectionNames(table, entryBytes, count, nameIndex);
        List<Section> list = new ArrayList<>((int) count);
        for (int i = 0; i < count; i++) {
            list.add(readSection(i, table + (long) i * entryBytes, names));
        }
        return List.copyOf(list);
    }

    private MemorySegment sectionNames(long table, int entryBytes, long count, long index) {
        MemorySegment none = MemorySegment.ofArray(new byte[0]);
        if (index >= count) {
            return none;
        }
        long at = table + index * entryBytes;
        long offset = address(at + (wide ? 24 : 16));
        long size = address(at + (wide ? 32 : 20));
        boolean inside = offset >= 0 && size >= 0 && offset <= file.byteSize() - size;
        return inside ? file.asSlice(offset, size) : none;
    }

    /** Elf64_Shdr or Elf32_Shdr. */
    private Section readSection(int index, long at, MemorySegment names) {
        String name = string(names, u32(at), SECTION_NAME_LIMIT);
        int type = (int) u32(at + 4);
        return wide
                ? new Section(
                        index,
                        name,
                        type,
                        address(at + 8),
                        address(at + 16),
                        address(at + 24),
                        address(at + 32),
                        (int) u32(at + 40),
                        (int) u32(at + 44),
                        address(at + 56))
                : new Section(
                        index,
                        name,
                        type,
                        u32(at + 8),
                        u32(at + 12),
                        u32(at + 16),
                        u32(at + 20),
                        (int) u32(at + 24),
                        (int) u32(at + 28),
                        u32(at + 36));
    }

    private List<Segment> readSegments() throws MalformedInputException {
        long table = address(wide ? 32 : 28);
        int entryBytes = u16(wide ? 54 : 42);
        long count = u16(wide ? 56 : 44);
        if (count == PN_XNUM && !sections.isEmpty()) {
            count = Integer.toUnsignedLong(sections.getFirst().info());
        }
        if (table == 0 || count == 0) {
            return List.of();
        }
        requireEntry("e_phentsize", entryBytes, wide ? 56 : 32);
        if (count > SEGMENT_LIMIT) {
            throw new MalformedInputException("ELF", "e_phnum", table, Long.toString(count));
        }
        slice("program header table", table, count * entryBytes);
        List<Segment> list = new ArrayList<>((int) count);
        for (int i = 0; i < count; i++) {
            list.add(readSegment(table + (long) i * entryBytes));
        }
        return List.copyOf(list);
    }

    /** Elf64_Phdr or Elf32_Phdr; p_flags stands at different places. */
    private Segment readSegment(long at) {
        int type = (int) u32(at);
        return wide
                ? new Segment(
                        type,
                        (int) u32(at + 4),
                        address(at + 8),
                        address(at + 16),
                        address(at + 32),
                        address(at + 40),
                        address(at + 48))
                : new Segment(
                        type,
                        (int) u32(at + 24),
                        u32(at + 4),
                        u32(at + 8),
                        u32(at + 16),
                        u32(at + 20),
                        u32(at + 28));
    }

    private void requireEntry(String field, int found, int least) throws MalformedInputException {
        if (found < least) {
            throw new MalformedInputException("ELF", field, -1, found + ", least " + least);
        }
    }

    /** Adds the notes up to the first that does not fit. */
    private void readNotes(List<Note> notes, long start, long sizeBytes, int alignment) {
        if (start < 0 || sizeBytes < 0 || start > file.byteSize() - sizeBytes) {
            return;
        }
        long end = start + sizeBytes;
        long at = start;
        while (end - at >= 12 && notes.size() < NOTE_LIMIT) {
            long nameBytes = u32(at);
            long descriptionBytes = u32(at + 4);
            int type = (int) u32(at + 8);
            long name = at + 12;
            long description = align(name + nameBytes, alignment);
            long next = align(description + descriptionBytes, alignment);
            if (description + descriptionBytes > end || descriptionBytes > 1 << 20) {
                return;
            }
            String owner = string(file.asSlice(name, nameBytes), 0, 256);
            byte[] bytes =
                    file.asSlice(description, descriptionBytes).toArray(ValueLayout.JAVA_BYTE);
            notes.add(new Note(owner, type, bytes));
            at = next;
        }
    }

    private static long align(long value, int alignment) {
        return (value + alignment - 1) & -alignment;
    }

    /** Elf64_Chdr or Elf32_Chdr, then a zlib stream. */
    private MemorySegment inflate(Section section, MemorySegment raw)
            throws MalformedInputException {
        int headerBytes = wide ? 24 : 12;
        String what = section.name() + " ch_type";
        if (raw.byteSize() < headerBytes || raw.byteSize() > TABLE_LIMIT_BYTES) {
            throw new MalformedInputException(
                    "ELF", what, section.offset(), raw.byteSize() + " bytes");
        }
        int type = int32(raw, 0, order);
        long size = wide ? raw.get(xword, 8) : Integer.toUnsignedLong(int32(raw, 4, order));
        if (type != ELFCOMPRESS_ZLIB || size < 0 || size > TABLE_LIMIT_BYTES) {
            throw new MalformedInputException(
                    "ELF", what, section.offset(), "type " + type + ", " + size + " bytes");
        }
        byte[] out = new byte[(int) size];
        try (Inflater inflater = new Inflater()) {
            inflater.setInput(raw.asSlice(headerBytes).toArray(ValueLayout.JAVA_BYTE));
            int length = 0;
            while (length < out.length) {
                int count = inflater.inflate(out, length, out.length - length);
                if (count == 0) {
                    throw new DataFormatException("ends after " + length + " bytes");
                }
                length += count;
            }
        } catch (DataFormatException e) {
            throw new MalformedInputException("ELF", what, section.offset(), "" + e.getMessage());
        }
        return MemorySegment.ofArray(out);
    }

    private static String string(MemorySegment bytes, long offset, int limit) {
        long end = Math.min(bytes.byteSize(), offset + limit);
        long at = offset;
        while (at < end && bytes.get(ValueLayout.JAVA_BYTE, at) != 0) {
            at++;
        }
        return at <= offset
                ? ""
                : new String(
                        bytes.asSlice(offset, at - offset).toArray(ValueLayout.JAVA_BYTE),
                        StandardCharsets.UTF_8);
    }
}
