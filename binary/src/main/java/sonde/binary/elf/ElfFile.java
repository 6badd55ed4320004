package sonde.binary.elf;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.IntToLongFunction;
import sonde.binary.MalformedInputException;
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
    public static final int PT_INTERP = 3;
    public static final int PT_NOTE = 4;
    public static final int PT_PHDR = 6;
    public static final int PT_TLS = 7;
    public static final int PT_GNU_STACK = 0x6474e551;
    public static final int PT_GNU_RELRO = 0x6474e552;
    public static final int PF_X = 1;

    public static final int SHT_PROGBITS = 1;
    public static final int SHT_SYMTAB = 2;
    public static final int SHT_STRTAB = 3;
    public static final int SHT_RELA = 4;
    public static final int SHT_DYNAMIC = 6;
    public static final int SHT_NOTE = 7;
    public static final int SHT_NOBITS = 8;
    public static final int SHT_REL = 9;
    public static final int SHT_DYNSYM = 11;
    public static final int SHT_GROUP = 17;
    public static final int SHT_SYMTAB_SHNDX = 18;
    public static final int SHT_RELR = 19;
    public static final int SHT_CREL = 0x40000014;
    public static final int SHT_GNU_VERDEF = 0x6ffffffd;
    public static final int SHT_GNU_VERNEED = 0x6ffffffe;
    public static final int SHT_GNU_VERSYM = 0x6fffffff;

    public static final long SHF_WRITE = 1;
    public static final long SHF_ALLOC = 2;
    public static final long SHF_EXECINSTR = 4;
    public static final long SHF_COMPRESSED = 0x800;

    /** Machines (e_machine) this project speaks of by name. */
    public static final int EM_386 = 3;

    public static final int EM_SPARC = 2;
    public static final int EM_68K = 4;
    public static final int EM_MIPS = 8;
    public static final int EM_S390 = 22;
    public static final int EM_ARM = 40;
    public static final int EM_SH = 42;
    public static final int EM_SPARCV9 = 43;
    public static final int EM_X86_64 = 62;
    public static final int EM_AARCH64 = 183;
    public static final int EM_RISCV = 243;
    public static final int EM_BPF = 247;
    public static final int EM_LOONGARCH = 258;

    /** Tables that are held in the heap are not larger. */
    static final long TABLE_LIMIT_BYTES = 1L << 30;

    private static final long COPIED_BYTES = 1 << 20;
    private static final int RELATIVE_LIMIT = 1 << 24;
    private static final int RELOCATION_LIMIT = 1 << 22;
    private static final int LINK_LIMIT_BYTES = 4096;
    private static final long MINI_LIMIT_BYTES = 256L << 20;

    private final ElfBytes bytes;
    private final ElfHeader header;
    private final List<ElfSection> sections;
    private final List<ElfSegment> segments;
    private final List<String> problems;
    private final boolean linked;

    private ElfFile(MemorySegment file) throws MalformedInputException {
        bytes = ElfBytes.of(file);
        header = ElfHeader.read(bytes);
        linked = false;
        TableReader reader = new TableReader(bytes, header);
        List<String> broken = new ArrayList<>();
        List<ElfSection> foundSections = List.of();
        try {
            foundSections = reader.sections();
        } catch (MalformedInputException e) {
            broken.add(e.reason());
        }
        List<ElfSegment> foundSegments = List.of();
        try {
            foundSegments = reader.segments(foundSections);
        } catch (MalformedInputException e) {
            broken.add(e.reason());
        }
        sections = foundSections;
        segments = foundSegments;
        problems = List.copyOf(broken);
        if (sections.isEmpty() && segments.isEmpty() && !problems.isEmpty()) {
            throw new MalformedInputException("ELF", problems.getFirst(), -1, "no table is whole");
        }
    }

    private ElfFile(ElfFile from, List<ElfSection> laidOut) {
        bytes = from.bytes;
        header = from.header;
        segments = from.segments;
        problems = from.problems;
        sections = laidOut;
        linked = true;
    }

    /**
     * Reads header, sections and segments. A table that lies outside of the file is left empty as
     * long as the other one is whole, and named by {@link #problems}.
     *
     * @throws MalformedInputException when this is not an ELF file or no table is whole
     */
    public static ElfFile of(MemorySegment file) throws MalformedInputException {
        return new ElfFile(file);
    }

    /** {@link #of(MemorySegment)} of a file, which stays open while contents are asked for. */
    public static ElfFile of(TargetFile file) throws IOException {
        return of(file.bytes());
    }

    /** {@link #of(MemorySegment)} of an image in the heap. */
    public static ElfFile of(byte[] image) throws MalformedInputException {
        return of(MemorySegment.ofArray(image));
    }

    /** Whether these bytes begin as an ELF file does. */
    public static boolean isElf(MemorySegment bytes) {
        return bytes.byteSize() >= 4
                && bytes.get(ValueLayout.JAVA_BYTE, 0) == 0x7f
                && bytes.get(ValueLayout.JAVA_BYTE, 1) == 'E'
                && bytes.get(ValueLayout.JAVA_BYTE, 2) == 'L'
                && bytes.get(ValueLayout.JAVA_BYTE, 3) == 'F';
    }

    /** The file header. */
    public ElfHeader header() {
        return header;
    }

    /** What of the tables could not be read, a line each: the file was cut or lies. */
    public List<String> problems() {
        return problems;
    }

    /** Whether it is of class ELFCLASS64. */
    public boolean is64() {
        return bytes.wide;
    }

    /** Byte order of every number in it. */
    public ByteOrder order() {
        return bytes.order;
    }

    /** ET_*. */
    public int type() {
        return header.type();
    }

    /** EM_*. */
    public int machine() {
        return header.machine();
    }

    /** Address where the program starts, as stated in the ELF. */
    public long entry() {
        return header.entry();
    }

    /** Bytes of the whole file. */
    public long sizeBytes() {
        return bytes.file.byteSize();
    }

    /** Whether the file ends before what its headers say is in it. */
    public boolean isCut() {
        return wholeBytes() > sizeBytes();
    }

    /** What is to be said of a file that {@link #isCut}, behind its name. */
    public String cut() {
        return "is cut off: its headers name "
                + wholeBytes()
                + " bytes, of which "
                + sizeBytes()
                + " are here";
    }

    /**
     * Where the last part ends that headers name. Segments count where there are no sections: those
     * of a separate debug file lie in the other one.
     */
    private long wholeBytes() {
        long end =
                end(header.sectionOffset(), (long) header.sectionCount() * header.sectionBytes());
        for (ElfSection section : sections) {
            if (section.type() != SHT_NOBITS) {
                end = Math.max(end, end(section.offset(), section.sizeBytes()));
            }
        }
        for (ElfSegment segment : sections.isEmpty() ? segments : List.<ElfSegment>of()) {
            end = Math.max(end, end(segment.offset(), segment.fileBytes()));
        }
        return end;
    }

    private static long end(long offset, long sizeBytes) {
        boolean sane = offset > 0 && sizeBytes > 0 && offset <= Long.MAX_VALUE - sizeBytes;
        return sane ? offset + sizeBytes : 0;
    }

    /** Writes all bytes as they are. */
    public void writeTo(OutputStream out) throws IOException {
        MemorySegment all = bytes.file;
        for (long at = 0; at < all.byteSize(); at += COPIED_BYTES) {
            long some = Math.min(COPIED_BYTES, all.byteSize() - at);
            out.write(all.asSlice(at, some).toArray(ValueLayout.JAVA_BYTE));
        }
    }

    /** All sections in the order of the table; the first is the reserved one. */
    public List<ElfSection> sections() {
        return sections;
    }

    /**
     * The first section of a name; for {@code .debug_NAME} also the compressed form of old, {@code
     * .zdebug_NAME}.
     */
    public Optional<ElfSection> section(String name) {
        String old = name.startsWith(".debug_") ? ".z" + name.substring(1) : name;
        ElfSection second = null;
        for (ElfSection section : sections) {
            if (section.name().equals(name)) {
                return Optional.of(section);
            }
            if (second == null && section.name().equals(old)) {
                second = section;
            }
        }
        return Optional.ofNullable(second);
    }

    /** All segments in the order of the table. */
    public List<ElfSegment> segments() {
        return segments;
    }

    /** The alignment that a section asks for, sh_addralign; 0 and 1 for none. */
    public long alignment(ElfSection section) {
        return section.alignment();
    }

    /**
     * The same relocatable file as if it had been loaded at address 0: loaded sections have
     * addresses one behind another, in the order in which the kernel lays out modules, symbols have
     * the addresses of their places, and the contents of sections of debugging information and of
     * unwind tables have their relocations applied. Any other file is returned as it is: what
     * {@code --emit-relocs} left in a kernel has been applied already.
     */
    public ElfFile linked() {
        if (linked || type() != ET_REL) {
            return this;
        }
        long[] addresses = SectionLayout.of(sections);
        List<ElfSection> laidOut = new ArrayList<>(sections.size());
        for (ElfSection section : sections) {
            laidOut.add(section.at(addresses[section.index()]));
        }
        return new ElfFile(this, List.copyOf(laidOut));
    }

    boolean isLinked() {
        return linked;
    }

    /**
     * Bytes of a section, decompressed when it is compressed with zlib or zstd: into the heap, or
     * when it is large into a mapped file that has no name. Each call decompresses again.
     *
     * @throws MalformedInputException when it lies outside the file, states more bytes than can
     *     come out of it, or is compressed in another way
     */
    public MemorySegment content(ElfSection section) throws MalformedInputException {
        if (section.type() == SHT_NOBITS) {
            return MemorySegment.ofArray(new byte[0]);
        }
        MemorySegment content = stored(section);
        if (isCompressed(section)) {
            content = SectionContent.expand(bytes, section, content);
        }
        // Where the sections lie stands in their headers then, and in the symbols.
        return linked && isOfDebugging(section) ? relocated(section, content, _ -> 0) : content;
    }

    /** {@link #content(ElfSection)} for those who have no memory segments. */
    public SectionBytes bytes(ElfSection section) throws MalformedInputException {
        return new SectionBytes(content(section));
    }

    /** Bytes of a section as they lie in the file; none of SHT_NOBITS. */
    public MemorySegment stored(ElfSection section) throws MalformedInputException {
        return section.type() == SHT_NOBITS
                ? MemorySegment.ofArray(new byte[0])
                : bytes.slice(section.name(), section.offset(), section.sizeBytes());
    }

    /** Whether a section's bytes are compressed, in the form of the gABI or the older one. */
    public boolean isCompressed(ElfSection section) {
        return (section.flags() & SHF_COMPRESSED) != 0 || SectionContent.isOld(bytes, section);
    }

    /**
     * Bytes of a section once it is decompressed, by its header alone; its size when it is not
     * compressed.
     */
    public long contentBytes(ElfSection section) throws MalformedInputException {
        return isCompressed(section)
                ? SectionContent.header(bytes, section, stored(section)).sizeBytes()
                : section.sizeBytes();
    }

    /**
     * {@link #content(ElfSection)} of a relocatable file whose sections are given addresses; of
     * other files, which may keep relocations that have been applied, the content itself.
     *
     * @param bases where a section begins, by its index
     */
    public MemorySegment content(ElfSection section, IntToLongFunction bases)
            throws MalformedInputException {
        MemorySegment content = content(section);
        return linked || type() != ET_REL ? content : relocated(section, content, bases);
    }

    private boolean isOfDebugging(ElfSection section) {
        return section.name().contains("debug_")
                || section.name().equals(".eh_frame")
                || section.name().startsWith(".orc_unwind")
                || section.name().equals(".sframe");
    }

    private MemorySegment relocated(
            ElfSection section, MemorySegment content, IntToLongFunction bases)
            throws MalformedInputException {
        MemorySegment out = content;
        for (ElfSection table : sections) {
            if (table.isRelocations() && table.info() == section.index()) {
                out = new DebugRelocator(this, bytes, bases).apply(section, out, table);
            }
        }
        return out;
    }

    /**
     * Bytes of a segment as they lie in the file.
     *
     * @throws MalformedInputException when it lies outside the file
     */
    public MemorySegment content(ElfSegment segment) throws MalformedInputException {
        return bytes.slice("segment", segment.offset(), segment.fileBytes());
    }

    /** At most so many bytes of a segment's content from an offset in it; none behind its end. */
    public byte[] bytes(ElfSegment segment, long from, long most) throws MalformedInputException {
        MemorySegment content = content(segment);
        long size = Math.min(most, content.byteSize() - from);
        return from < 0 || size <= 0
                ? new byte[0]
                : content.asSlice(from, size).toArray(ValueLayout.JAVA_BYTE);
    }

    /**
     * A copy of the bytes of a segment.
     *
     * @throws MalformedInputException when it lies outside the file
     */
    public byte[] bytes(ElfSegment segment) throws MalformedInputException {
        return content(segment).toArray(ValueLayout.JAVA_BYTE);
    }

    /**
     * The first symbol table of a type, SHT_SYMTAB or SHT_DYNSYM, with its strings.
     *
     * @throws MalformedInputException when table or strings lie outside the file or pass 1 GiB
     */
    public Optional<ElfSymbols> symbols(int sectionType) throws MalformedInputException {
        for (ElfSection section : sections) {
            if (section.type() == sectionType) {
                return Optional.of(SymbolReader.read(this, section));
            }
        }
        return Optional.empty();
    }

    /** The symbols of one table. */
    public ElfSymbols symbols(ElfSection table) throws MalformedInputException {
        return SymbolReader.read(this, table);
    }

    /**
     * The entries of a relocation table, SHT_REL, SHT_RELA or SHT_CREL, read when asked for.
     *
     * @throws MalformedInputException for a table of another kind, with entries of another size, or
     *     that lies outside the file
     */
    public RelocationTable relocationTable(ElfSection table) throws MalformedInputException {
        MemorySegment stored = stored(table);
        MemorySegment entries =
                isCompressed(table) ? SectionContent.expand(bytes, table, stored) : stored;
        return new RelocationTable(bytes, machine(), table, entries);
    }

    /** All entries of {@link #relocationTable} as values, at most 4 million. */
    public List<ElfRelocation> relocations(ElfSection table) throws MalformedInputException {
        RelocationTable entries = relocationTable(table);
        if (entries.count() > RELOCATION_LIMIT) {
            throw new MalformedInputException(
                    "ELF", table.name() + " sh_size", table.offset(), entries.count() + " entries");
        }
        List<ElfRelocation> list = new ArrayList<>((int) entries.count());
        for (long i = 0; i < entries.count(); i++) {
            list.add(entries.get(i));
        }
        return List.copyOf(list);
    }

    /**
     * The places of a table of packed relative relocations, SHT_RELR (gABI, "Relative Relocation
     * Table"): an even entry is an address, an odd one a bitmap of the words behind.
     *
     * @throws MalformedInputException when it lies outside the file or has more than 16 million
     */
    public long[] relativeRelocations(ElfSection table) throws MalformedInputException {
        MemorySegment content = content(table);
        int word = bytes.wide ? 8 : 4;
        long[] places = new long[1024];
        int count = 0;
        long base = 0;
        for (long at = 0; at + word <= content.byteSize(); at += word) {
            long entry = bytes.address(content, at);
            if (count + 64 > RELATIVE_LIMIT) {
                throw new MalformedInputException("ELF", table.name(), at, "too many places");
            }
            if (count + 64 > places.length) {
                places = Arrays.copyOf(places, 2 * places.length);
            }
            if ((entry & 1) == 0) {
                places[count++] = entry;
                base = entry + word;
                continue;
            }
            for (int bit = 1; bit < 8 * word; bit++) {
                if ((entry >>> bit & 1) != 0) {
                    places[count++] = base + (long) (bit - 1) * word;
                }
            }
            base += (8L * word - 1) * word;
        }
        return Arrays.copyOf(places, count);
    }

    /**
     * What the run-time linker is told; empty when there is nothing.
     *
     * @throws MalformedInputException when it lies outside the file
     */
    public Optional<DynamicTable> dynamic() throws MalformedInputException {
        return DynamicTable.read(this);
    }

    /** Versions of the dynamic symbols; empty when they have none. */
    public Optional<SymbolVersions> versions() throws MalformedInputException {
        return SymbolVersions.read(this);
    }

    /**
     * Whether a segment's bytes are in the file. Separate debug files keep the headers of segments
     * whose sections they have as SHT_NOBITS; at the offsets of those stands something else.
     */
    boolean isStored(ElfSegment segment) {
        return sections.stream()
                .noneMatch(s ->
                        s.type() == SHT_NOBITS
                                && (s.flags() & SHF_ALLOC) != 0
                                && s.address() == segment.address()
                                && s.sizeBytes() > 0
                                && s.sizeBytes() == segment.memoryBytes());
    }

    /** The program that runs this one, PT_INTERP; empty for none. */
    public Optional<String> interpreter() {
        for (ElfSegment segment : segments) {
            if (segment.type() == PT_INTERP
                    && bytes.holds(segment.offset(), segment.fileBytes())
                    && isStored(segment)) {
                MemorySegment name = bytes.file.asSlice(segment.offset(), segment.fileBytes());
                return Optional.of(ElfBytes.string(name, 0, LINK_LIMIT_BYTES));
            }
        }
        return Optional.empty();
    }

    /** Notes of all note sections, or where there are no sections of all note segments. */
    public List<ElfNote> notes() {
        List<ElfNote> notes = new ArrayList<>();
        for (ElfSection section : sections) {
            if (section.type() == SHT_NOTE) {
                notes.addAll(notes(section));
            }
        }
        if (notes.isEmpty()) {
            for (ElfSegment segment : segments) {
                if (segment.type() == PT_NOTE) {
                    notes.addAll(notes(segment));
                }
            }
        }
        return notes;
    }

    /** Notes of one section; none when it is compressed or lies outside the file. */
    public List<ElfNote> notes(ElfSection section) {
        return isCompressed(section) || section.type() == SHT_NOBITS
                ? List.of()
                : NoteReader.read(
                        bytes, section.offset(), section.sizeBytes(), section.alignment());
    }

    /** Notes of one segment. */
    public List<ElfNote> notes(ElfSegment segment) {
        return NoteReader.read(bytes, segment.offset(), segment.fileBytes(), segment.alignment());
    }

    /** The build-id of the GNU note, usually 20 bytes. */
    public Optional<byte[]> buildId() {
        return ElfNote.buildIdIn(notes());
    }

    /** The name of the separate debug file, when there is one and it is a plain name. */
    public Optional<DebugLink> debugLink() throws MalformedInputException {
        Optional<ElfSection> section = section(".gnu_debuglink");
        if (section.isEmpty() || section.get().sizeBytes() > LINK_LIMIT_BYTES) {
            return Optional.empty();
        }
        MemorySegment content = content(section.get());
        String name = ElfBytes.string(content, 0, LINK_LIMIT_BYTES);
        long crcAt = (lengthOf(content) + 4) & ~3L;
        boolean plain = !name.isEmpty() && name.indexOf('/') < 0 && !name.equals("..");
        return plain && crcAt + 4 <= content.byteSize()
                ? Optional.of(new DebugLink(name, content.get(bytes.word, crcAt)))
                : Optional.empty();
    }

    /** The file that dwz moved common entries to, by the GNU section or that of DWARF 5. */
    public Optional<DebugAltLink> debugAltLink() throws MalformedInputException {
        Optional<ElfSection> gnu = section(".gnu_debugaltlink");
        if (gnu.isPresent() && gnu.get().sizeBytes() <= LINK_LIMIT_BYTES) {
            MemorySegment content = content(gnu.get());
            return altLink(content, 0, lengthOf(content) + 1, content.byteSize());
        }
        Optional<ElfSection> sup = section(".debug_sup");
        if (sup.isPresent() && sup.get().sizeBytes() <= LINK_LIMIT_BYTES) {
            // version u16, is_supplementary u8, name, length of the checksum as ULEB128, checksum
            MemorySegment content = content(sup.get());
            if (content.byteSize() > 4 && content.get(ValueLayout.JAVA_BYTE, 2) == 0) {
                long length = 3 + lengthOf(content.asSlice(3));
                return altLink(content, 3, length + 2, content.byteSize());
            }
        }
        return Optional.empty();
    }

    private static Optional<DebugAltLink> altLink(
            MemorySegment content, long nameAt, long idAt, long end) {
        String name = ElfBytes.string(content, nameAt, LINK_LIMIT_BYTES);
        if (name.isEmpty() || idAt >= end || end - idAt > 64) {
            return Optional.empty();
        }
        byte[] id = content.asSlice(idAt, end - idAt).toArray(ValueLayout.JAVA_BYTE);
        return Optional.of(new DebugAltLink(name, id));
    }

    private static long lengthOf(MemorySegment content) {
        long length = 0;
        while (length < content.byteSize() && content.get(ValueLayout.JAVA_BYTE, length) != 0) {
            length++;
        }
        return length;
    }

    /** Whether this is the file that a link of {@link #debugAltLink} means. */
    public boolean fits(DebugAltLink link) throws MalformedInputException {
        if (Arrays.equals(buildId().orElse(new byte[0]), link.id())) {
            return true;
        }
        Optional<ElfSection> sup = section(".debug_sup");
        if (sup.isEmpty() || sup.get().sizeBytes() > LINK_LIMIT_BYTES) {
            return false;
        }
        MemorySegment content = content(sup.get());
        long from = content.byteSize() - link.id().length;
        return from > 4
                && content.get(ValueLayout.JAVA_BYTE, 2) == 1
                && Arrays.equals(content.asSlice(from).toArray(ValueLayout.JAVA_BYTE), link.id());
    }

    /**
     * {@code .gnu_debugdata}: an ELF file with a symbol table alone, xz-compressed within (gdb
     * manual, "MiniDebugInfo").
     *
     * @throws MalformedInputException when it is there and damaged
     */
    public Optional<ElfFile> miniDebugInfo() throws MalformedInputException {
        Optional<ElfSection> section = section(".gnu_debugdata");
        return section.isEmpty() || section.get().type() == SHT_NOBITS
                ? Optional.empty()
                : Optional.of(of(SectionContent.xz(content(section.get()), MINI_LIMIT_BYTES)));
    }

    /**
     * The address stated in the ELF for an offset in the file, by the loaded segments; code
     * segments are asked first, because a page at a border is mapped twice.
     *
     * @return -1 when no segment holds it
     */
    public long addressOf(long fileOffset) {
        for (int pass = 0; pass < 2; pass++) {
            for (ElfSegment s : segments) {
                if ((pass == 0 ? s.isCode() : s.type() == PT_LOAD)
                        && Long.compareUnsigned(fileOffset - s.offset(), s.fileBytes()) < 0) {
                    return fileOffset - s.offset() + s.address();
                }
            }
        }
        return -1;
    }

    /**
     * The offset in the file of an address stated in the ELF, by the loaded segments.
     *
     * @return -1 when no segment has bytes for it
     */
    public long offsetOf(long elfAddress) {
        for (ElfSegment s : segments) {
            if (s.type() == PT_LOAD
                    && Long.compareUnsigned(elfAddress - s.address(), s.fileBytes()) < 0) {
                return elfAddress - s.address() + s.offset();
            }
        }
        return -1;
    }

    /**
     * Whether an address stated in the ELF is one of code, by the sections, or where there are none
     * by the segments. Debugging information keeps what linkers left out, at 0 or at -1.
     */
    public boolean isCode(long elfAddress) {
        return sections.isEmpty()
                ? segments.stream()
                        .filter(ElfSegment::isCode)
                        .anyMatch(s ->
                                Long.compareUnsigned(elfAddress - s.address(), s.fileBytes()) < 0)
                : sections.stream().anyMatch(s -> s.isExecutable() && s.contains(elfAddress));
    }

    ElfBytes bytes() {
        return bytes;
    }
}
