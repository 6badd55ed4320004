package sonde.binary.unwind;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.SectionCursor;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;
import sonde.binary.elf.ElfSegment;

/**
 * How to leave the frames of a file's code. Holds copies of the sections it needs, nothing of the
 * file open; functions are compiled when first asked for. Damage in one section hides only what
 * lies behind it there. Thread-safe.
 */
public final class UnwindTable {
    private static final int PT_GNU_EH_FRAME = 0x6474e550;
    private static final long SECTION_LIMIT_BYTES = 256L << 20;

    /** Most bytes of all sections together: a table of sections may name one place many times. */
    private static final long LIMIT_BYTES = 2 * SECTION_LIMIT_BYTES;

    private static final long PLT_LIMIT_BYTES = 4L << 20;
    private static final List<String> STUBS =
            List.of(".plt", ".plt.sec", ".plt.got", ".plt.bnd", ".iplt");

    private final UnwindMachine machine;
    private long leftBytes;
    private final List<FrameSource> sources = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private Optional<GoStacks> go = Optional.empty();

    private UnwindTable(UnwindMachine machine, long mostBytes) {
        this.machine = machine;
        leftBytes = mostBytes;
    }

    /**
     * What a file says: {@code .eh_frame}, then {@code .debug_frame}, then {@code .sframe}, then
     * what stubs of linkers look like.
     *
     * @return empty for machines that are not known here
     */
    public static Optional<UnwindTable> of(ElfFile elf) {
        return of(elf, LIMIT_BYTES);
    }

    static Optional<UnwindTable> of(ElfFile elf, long mostBytes) {
        return UnwindMachine.of(elf)
                .map(machine -> {
                    UnwindTable table = new UnwindTable(machine, mostBytes);
                    table.read(elf);
                    return table;
                });
    }

    private void read(ElfFile elf) {
        cfi(elf, CfiSection.Kind.EH_FRAME, ".eh_frame");
        if (sources.isEmpty()) {
            attempt(() -> headerSegment(elf));
        }
        cfi(elf, CfiSection.Kind.DEBUG_FRAME, ".debug_frame");
        elf.section(".sframe")
                .ifPresent(section ->
                        attempt(() -> {
                            MemorySegment bytes = copy(elf, section);
                            if (bytes.byteSize() > 0) {
                                sources.add(
                                        new SFrame(machine, bytes, elf.order(), section.address()));
                            }
                        }));
        attempt(() -> go = GoStacks.of(machine, elf));
        for (ElfSection section : elf.sections()) {
            if (STUBS.contains(section.name()) && section.sizeBytes() <= PLT_LIMIT_BYTES) {
                attempt(() -> {
                    byte[] code = copy(elf, section).toArray(ValueLayout.JAVA_BYTE);
                    boolean head = section.name().equals(".plt");
                    sources.add(new Plt(machine, code, section.address(), head));
                });
            }
        }
    }

    /** Adds the {@code .debug_frame} of the separate debug file of the same build. */
    public synchronized void addSeparate(ElfFile debug) {
        cfi(debug, CfiSection.Kind.DEBUG_FRAME, ".debug_frame");
    }

    /** Reads a part; what is wrong with it is noted. */
    @FunctionalInterface
    private interface PartReader {
        void read() throws MalformedInputException;
    }

    private void attempt(PartReader part) {
        try {
            part.read();
        } catch (MalformedInputException e) {
            notes.add(String.valueOf(e.getMessage()));
        }
    }

    private void cfi(ElfFile elf, CfiSection.Kind kind, String name) {
        for (ElfSection section : elf.sections()) {
            if (section.name().equals(name)) {
                attempt(() -> add(elf, kind, copy(elf, section), section.address()));
            }
        }
    }

    private void add(ElfFile elf, CfiSection.Kind kind, MemorySegment bytes, long address) {
        if (bytes.byteSize() == 0) {
            return; // of a debug file: the section stayed in the program
        }
        PointerEncoding encoding =
                new PointerEncoding(
                        machine.wordBytes(), address, addressOf(elf, ".text"), dataAddress(elf));
        sources.add(new CfiSection(kind, machine, bytes, elf.order(), encoding, notes));
    }

    /**
     * {@code .eh_frame} of a file without section headers: PT_GNU_EH_FRAME says where it begins.
     */
    private void headerSegment(ElfFile elf) throws MalformedInputException {
        for (ElfSegment header : elf.segments()) {
            if (header.type() != PT_GNU_EH_FRAME) {
                continue;
            }
            SectionCursor in =
                    new SectionCursor(".eh_frame_hdr", elf.content(header), elf.order(), 16);
            if (in.u8() != 1) {
                throw in.malformed("another version");
            }
            int encoding = in.u8();
            in.skip(2); // encodings of the table and its size, which are not needed
            long start =
                    new PointerEncoding(machine.wordBytes(), header.address(), 0, header.address())
                            .pointer(in, encoding, 0);
            for (ElfSegment segment : elf.segments()) {
                long before = start - segment.address();
                boolean holds = Long.compareUnsigned(before, segment.fileBytes()) < 0;
                if (segment.type() == ElfFile.PT_LOAD && holds) {
                    MemorySegment all = elf.content(segment);
                    long size = Math.min(all.byteSize() - before, SECTION_LIMIT_BYTES);
                    byte[] kept = all.asSlice(before, size).toArray(ValueLayout.JAVA_BYTE);
                    MemorySegment bytes = untilEnd(MemorySegment.ofArray(kept), elf);
                    add(elf, CfiSection.Kind.EH_FRAME, bytes, start);
                    return;
                }
            }
        }
    }

    /** Without headers nothing but the first terminator says where it ends. */
    private static MemorySegment untilEnd(MemorySegment bytes, ElfFile elf) {
        ValueLayout.OfInt u32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(elf.order());
        long at = 0;
        while (at + 4 <= bytes.byteSize()) {
            long length = bytes.get(u32, at) & 0xffff_ffffL;
            if (length == 0 || length == 0xffff_ffffL || length > bytes.byteSize() - at - 4) {
                break;
            }
            at += 4 + length;
        }
        return bytes.asSlice(0, at);
    }

    private static long addressOf(ElfFile elf, String name) {
        return elf.section(name).map(ElfSection::address).orElse(0L);
    }

    /** The base of DW_EH_PE_datarel in {@code .eh_frame}: the global offset table. */
    private static long dataAddress(ElfFile elf) {
        return elf.section(".got.plt").map(ElfSection::address).orElse(addressOf(elf, ".got"));
    }

    private MemorySegment copy(ElfFile elf, ElfSection section) throws MalformedInputException {
        long size = section.type() == ElfFile.SHT_NOBITS ? 0 : elf.contentBytes(section);
        if (size < 0 || size > Math.min(SECTION_LIMIT_BYTES, leftBytes)) {
            throw new MalformedInputException(
                    "ELF",
                    section.name(),
                    section.offset(),
                    Long.toUnsignedString(size) + " bytes");
        }
        MemorySegment bytes = elf.content(section);
        leftBytes -= bytes.byteSize();
        return MemorySegment.ofArray(bytes.toArray(ValueLayout.JAVA_BYTE));
    }

    /** The machine of its code. */
    public UnwindMachine machine() {
        return machine;
    }

    /** Functions that have entries. */
    public synchronized int functions() {
        return sources.stream().mapToInt(FrameSource::functions).sum();
    }

    /** The rule at an address as stated in the ELF; null when nothing is said about it. */
    public synchronized @Nullable FrameRule find(long address) {
        FrameRule rule = stated(address);
        return go.isPresent() ? go.get().find(address, rule) : rule;
    }

    private @Nullable FrameRule stated(long address) {
        for (FrameSource source : sources) {
            FrameRule rule = source.find(address);
            if (rule != null) {
                return rule;
            }
        }
        return null;
    }

    /** Takes the rules of a file one by one. */
    @FunctionalInterface
    public interface RowTaker {
        /**
         * A rule.
         *
         * @param section that has it
         * @param start of the function, as stated in the ELF
         * @param sizeBytes of the function
         * @param address from which on the rule holds, up to the next
         */
        void row(String section, long start, long sizeBytes, long address, FrameRule rule);
    }

    /** Tells all rules of {@code .eh_frame} and {@code .debug_frame}, function by function. */
    public synchronized void each(RowTaker taker) {
        sources.forEach(source -> source.each(taker));
    }

    /** Where Go changes stacks. */
    synchronized Optional<GoStacks> goStacks() {
        return go;
    }

    /** As {@link #each}, as compact rules of x86-64. */
    synchronized void compact(CompactCfi.RuleRows taker) {
        sources.forEach(source -> source.compact(taker));
    }

    /** What was wrong with it, in plain sentences. */
    public synchronized List<String> notes() {
        functions(); // the sections are read by now
        return List.copyOf(notes);
    }
}
