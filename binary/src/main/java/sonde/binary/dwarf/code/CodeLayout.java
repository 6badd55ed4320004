package sonde.binary.dwarf.code;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;
import sonde.binary.elf.ElfSegment;

/**
 * Where a file's code lies. In files that are not linked (ET_REL: objects, kernel modules) every
 * section begins at 0; here they lie one behind the other, {@code .text} at 0.
 */
public final class CodeLayout {
    private final long[] bases;
    private final long[] starts;
    private final long[] ends;

    private CodeLayout(long[] bases, List<long[]> ranges) {
        this.bases = bases;
        ranges.sort((a, b) -> Long.compareUnsigned(a[0], b[0]));
        starts = ranges.stream().mapToLong(r -> r[0]).toArray();
        ends = ranges.stream().mapToLong(r -> r[1]).toArray();
    }

    /** By sections; where there are none, by segments. */
    public static CodeLayout of(ElfFile elf) {
        List<ElfSection> sections = elf.sections();
        long[] bases = new long[sections.size()];
        boolean loose = elf.type() == ElfFile.ET_REL;
        List<ElfSection> code =
                new ArrayList<>(
                        sections.stream()
                                .filter(s -> (s.flags() & ElfFile.SHF_ALLOC) != 0)
                                .filter(ElfSection::isExecutable)
                                .toList());
        if (loose) {
            code.sort(Comparator.comparing(s -> !s.name().equals(".text")));
        }
        List<long[]> ranges = new ArrayList<>();
        long next = 0;
        for (ElfSection section : code) {
            long start = section.address();
            if (loose) {
                start = next;
                next = next + Math.clamp(section.sizeBytes(), 0, 1L << 40) + 63 & ~63L;
            }
            bases[section.index()] = start;
            ranges.add(new long[] {start, start + section.sizeBytes()});
        }
        if (loose) {
            for (ElfSection section : sections) {
                boolean data = (section.flags() & ElfFile.SHF_ALLOC) != 0;
                if (data && !section.isExecutable()) {
                    bases[section.index()] = next;
                    next = next + Math.clamp(section.sizeBytes(), 0, 1L << 40) + 63 & ~63L;
                }
            }
        } else {
            sections.forEach(s -> bases[s.index()] = s.address());
        }
        if (ranges.isEmpty()) {
            for (ElfSegment segment : elf.segments()) {
                if (segment.isCode()) {
                    long start = segment.address();
                    ranges.add(new long[] {start, start + segment.memoryBytes()});
                }
            }
        }
        return new CodeLayout(bases, ranges);
    }

    /** Where a section begins: the address stated in the ELF, or the place given to it here. */
    public long base(int section) {
        return section > 0 && section < bases.length ? bases[section] : 0;
    }

    /** The first address of code, 0 where there is none. */
    public long lowest() {
        return starts.length == 0 ? 0 : starts[0];
    }

    /** Whether an address is one of code: what linkers threw away is stated elsewhere. */
    public boolean isCode(long address) {
        int low = 0;
        int high = starts.length - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            if (Long.compareUnsigned(address, starts[middle]) < 0) {
                high = middle - 1;
            } else if (Long.compareUnsigned(address, ends[middle]) >= 0) {
                low = middle + 1;
            } else {
                return true;
            }
        }
        return false;
    }
}
