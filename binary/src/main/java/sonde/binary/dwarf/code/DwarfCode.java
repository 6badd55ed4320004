package sonde.binary.dwarf.code;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.UnitHeader;
import sonde.binary.elf.DebugAltLink;
import sonde.binary.elf.ElfFile;

/**
 * Which functions, inlined calls and lines the code of a file came from: DWARF 2 to 5, also where
 * parts of it stand in other files. Safe for several threads; each reads with a {@link CodeReader}
 * of its own.
 */
public final class DwarfCode {
    private static final int HASHED_BYTES = 4096;

    /** Other files that a file's debugging information is spread over; null where there is none. */
    public interface Companions {
        /**
         * A {@code .dwo} file.
         *
         * @param folder where relative names begin
         */
        @Nullable ElfFile split(String folder, String name) throws IOException;

        /** The {@code .dwp} file. */
        @Nullable ElfFile splitPackage() throws IOException;

        /** What dwz took out of several files ({@code .gnu_debugaltlink}, {@code .debug_sup}). */
        @Nullable ElfFile supplement(String name, byte[] buildId) throws IOException;
    }

    final DwarfFile file;
    final CodeLayout layout;
    private final Companions companions;
    private final ConcurrentHashMap<Long, Optional<DwarfFile>> splits = new ConcurrentHashMap<>();
    private @Nullable Optional<SplitPackage> splitPackage;
    private @Nullable RangeIndex stated;
    private @Nullable RangeIndex own;
    private final BitSet rangeless = new BitSet();
    private final AtomicInteger missing = new AtomicInteger();

    private DwarfCode(DwarfFile file, CodeLayout layout, Companions companions) {
        this.file = file;
        this.layout = layout;
        this.companions = companions;
    }

    /**
     * Of a program, library, kernel, module or separate debug file. Only section headers are read.
     *
     * @throws MalformedInputException when a section lies outside of the file
     */
    public static DwarfCode of(ElfFile elf, Companions companions) throws IOException {
        CodeLayout layout = CodeLayout.of(elf);
        ElfFile other = supplement(elf, companions);
        DwarfFile supplement = null;
        if (other != null) {
            DwarfSections sections = DwarfSections.of(other, CodeLayout.of(other), "");
            supplement = new DwarfFile(sections, null);
        }
        DwarfSections sections = DwarfSections.of(elf, layout, "");
        return new DwarfCode(new DwarfFile(sections, supplement), layout, companions);
    }

    private static @Nullable ElfFile supplement(ElfFile elf, Companions companions)
            throws IOException {
        DebugAltLink link = elf.debugAltLink().orElse(null);
        return link == null ? null : companions.supplement(link.fileName(), link.id());
    }

    /** Whether the file says nothing of its code. */
    public boolean isEmpty() {
        return file.sections.units().byteSize() == 0;
    }

    /** Where code lies. */
    public CodeLayout layout() {
        return layout;
    }

    /** Number of units; those without code are among them. */
    public int unitCount() {
        return file.unitOffsets().length;
    }

    /**
     * Changes when the debugging information does: of its sizes, and of what stands at its ends.
     */
    public long fingerprint() {
        CRC32C crc = new CRC32C();
        DwarfSections all = file.sections;
        List<MemorySegment> parts = List.of(all.units(), all.lines(), all.strings());
        for (MemorySegment part : parts) {
            long size = Math.min(part.byteSize(), HASHED_BYTES);
            crc.update(part.asSlice(0, size).asByteBuffer());
            crc.update(part.asSlice(part.byteSize() - size, size).asByteBuffer());
        }
        long sizes = 31 * all.units().byteSize() + all.lines().byteSize();
        return crc.getValue() << 32 ^ sizes;
    }

    /** Whether a unit may have code of its own. */
    public boolean mayHaveCode(int unit) {
        int type = file.unitType(unit);
        return type != UnitHeader.TYPE
                && type != UnitHeader.PARTIAL
                && type != UnitHeader.SPLIT_TYPE;
    }

    /** Skeleton units whose other part was not found, so far. */
    public int missingSplits() {
        return missing.get();
    }

    /** The unit that {@code .debug_aranges} gives for an address; -1 where it gives none. */
    public synchronized int statedUnit(long address) {
        RangeIndex index = stated;
        if (index == null) {
            index = new RangeIndex();
            AddressRanges.read(file, layout, index);
            index.build();
            stated = index;
        }
        return index.find(address);
    }

    /** The unit that says of itself that it has an address; -1 where none does. */
    public synchronized int unitOf(long address) {
        RangeIndex index = own;
        if (index == null) {
            index = new RangeIndex();
            CodeFileReader reader = new CodeFileReader(file);
            for (int unit = 0; unit < unitCount(); unit++) {
                if (mayHaveCode(unit)) {
                    ownRanges(reader, unit, index);
                }
            }
            index.build();
            own = index;
        }
        return index.find(address);
    }

    /** Units of code that do not say which addresses they have, known after {@link #unitOf}. */
    public synchronized int[] unitsWithoutRanges() {
        return rangeless.stream().toArray();
    }

    /** Whether a unit of code does not say which addresses it has, known after {@link #unitOf}. */
    public synchronized boolean isWithoutRanges(int unit) {
        return rangeless.get(unit);
    }

    private void ownRanges(CodeFileReader reader, int unit, RangeIndex index) {
        try {
            UnitHeader header = UnitHeader.read(reader.peek, file.unitOffsets()[unit]);
            CodeUnit root = CodeUnit.read(reader, header);
            CodeRanges ranges = new CodeRanges();
            root.ranges(ranges);
            boolean any = false;
            for (int i = 0; i < ranges.count(); i++) {
                if (layout.isCode(ranges.start(i))) {
                    index.add(ranges.start(i), ranges.end(i), unit);
                    any = true;
                }
            }
            boolean code = root.hasChildren || root.lines != CodeUnit.NONE;
            if (!any && code && root.tag != 0x3c && ranges.count() == 0) {
                rangeless.set(unit);
            }
        } catch (MalformedInputException e) {
            // The unit has nothing; others have.
            return;
        }
    }

    /** What one thread reads units with. */
    public CodeReader reader() {
        return new CodeReader(this);
    }

    /** What a skeleton unit left out; null when there is no file with it. */
    @Nullable DwarfFile split(CodeUnit skeleton) {
        return splits.computeIfAbsent(skeleton.splitId, id -> Optional.ofNullable(find(skeleton)))
                .orElse(null);
    }

    private @Nullable DwarfFile find(CodeUnit skeleton) {
        try {
            SplitPackage all = splitPackage();
            DwarfFile packed = all == null ? null : all.unit(skeleton.splitId);
            if (packed != null) {
                return packed;
            }
            ElfFile elf = companions.split(skeleton.folder(), skeleton.splitName());
            if (elf != null) {
                return new DwarfFile(DwarfSections.of(elf, CodeLayout.of(elf), ".dwo"), null);
            }
        } catch (IOException e) {
            // As if it were not there.
            missing.incrementAndGet();
            return null;
        }
        missing.incrementAndGet();
        return null;
    }

    private synchronized @Nullable SplitPackage splitPackage() throws IOException {
        Optional<SplitPackage> known = splitPackage;
        if (known == null) {
            ElfFile elf = companions.splitPackage();
            known = Optional.empty();
            if (elf != null) {
                DwarfSections sections = DwarfSections.of(elf, CodeLayout.of(elf), ".dwo");
                known = Optional.of(new SplitPackage(sections));
            }
            splitPackage = known;
        }
        return known.orElse(null);
    }
}
