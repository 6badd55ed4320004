package sonde.binary.elf;

import java.util.List;

/**
 * Gives the loaded sections of a relocatable file addresses, in the order in which the kernel lays
 * out modules (kernel/module/main.c, layout_sections): code, read-only data, data; then those of
 * {@code .init} in the same order. So an offset in a module's memory of code is an address here.
 */
final class SectionLayout {
    private SectionLayout() {}

    static long[] of(List<ElfSection> sections) {
        long[] addresses = new long[sections.size()];
        long next = 0;
        for (int phase = 0; phase < 6; phase++) {
            for (ElfSection section : sections) {
                if ((section.flags() & ElfFile.SHF_ALLOC) == 0 || phase(section) != phase) {
                    continue;
                }
                long alignment = Long.bitCount(section.alignment()) == 1 ? section.alignment() : 1;
                next = next + Math.min(alignment, 1L << 21) - 1 & -Math.min(alignment, 1L << 21);
                addresses[section.index()] = next;
                next += Math.clamp(section.sizeBytes(), 0, 1L << 40);
            }
        }
        return addresses;
    }

    private static int phase(ElfSection section) {
        int order = section.isExecutable() ? 0 : (section.flags() & ElfFile.SHF_WRITE) == 0 ? 1 : 2;
        return section.name().startsWith(".init") ? order + 3 : order;
    }
}
