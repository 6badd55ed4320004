package sonde.bpf.object;

import java.util.List;
import sonde.binary.btf.BtfExtension;
import sonde.binary.btf.BtfExtension.LineEntry;
import sonde.binary.btf.BtfType;
import sonde.binary.elf.ElfSymbols;
import sonde.bpf.object.ObjectException.ObjectPosition;

/**
 * One object, or several linked into one, as its files state it: nothing of the kernel is known
 * yet.
 *
 * @param name for messages: the file's name
 * @param types by their id; the first is void
 */
record ObjectImage(
        String name,
        List<ImageSection> parts,
        List<ImageSymbol> symbols,
        List<BtfType> types,
        String license,
        int version) {

    /** What a section is for. */
    enum SectionUse {
        /** Instructions. */
        CODE,
        /** {@code .data}, {@code .data.*}: variables. */
        DATA,
        /** {@code .rodata}, {@code .rodata.*}: constants. */
        CONSTANTS,
        /** {@code .bss}, {@code .bss.*}: variables that begin as 0. */
        ZEROS,
        /** {@code .maps}. */
        MAPS,
        /** {@code .struct_ops}, {@code .struct_ops.link}. */
        STRUCT_OPS
    }

    /**
     * A section.
     *
     * @param bytes of it; none where they all are 0
     * @param alignment of its start, a power of two
     */
    record ImageSection(
            String name,
            SectionUse use,
            byte[] bytes,
            int sizeBytes,
            int alignment,
            List<Reloc> relocations,
            List<BtfExtension.Function> functions,
            List<LineEntry> lines,
            List<BtfExtension.CoreRelocation> core) {}

    /**
     * A relocation.
     *
     * @param offset in its section
     * @param type R_BPF_*
     * @param symbol index
     */
    record Reloc(int offset, int type, int symbol) {}

    /**
     * A symbol.
     *
     * @param part index of the section, {@link #UNDEFINED} or {@link #ELSEWHERE}
     * @param value offset in the section
     */
    record ImageSymbol(
            String name, int part, long value, long size, int type, int binding, int visibility) {
        /** Defined by nobody yet. */
        static final int UNDEFINED = -1;

        /** In a section that is not kept, or in none. */
        static final int ELSEWHERE = -2;

        boolean isFunction() {
            return type == ElfSymbols.STT_FUNC;
        }

        boolean isSection() {
            return type == ElfSymbols.STT_SECTION;
        }

        boolean isLocal() {
            return binding == ElfSymbols.STB_LOCAL;
        }

        boolean isWeak() {
            return binding == ElfSymbols.STB_WEAK;
        }

        /** Undefined here, and meant to be found. */
        boolean isExtern() {
            return part == UNDEFINED && !isLocal() && !name.isEmpty();
        }

        /** Not seen outside its object. */
        boolean isHidden() {
            return visibility == ElfSymbols.STV_HIDDEN || visibility == ElfSymbols.STV_INTERNAL;
        }
    }

    ObjectPosition place() {
        return ObjectPosition.of(name);
    }

    /** Index of a section by its name, -1 for none. */
    int part(String wanted) {
        for (int i = 0; i < parts.size(); i++) {
            if (parts.get(i).name().equals(wanted)) {
                return i;
            }
        }
        return -1;
    }

    BtfType type(int id, ObjectPosition place) throws ObjectException {
        if (id < 0 || id >= types.size()) {
            throw new ObjectException(
                    place, "BTF type " + Integer.toUnsignedString(id) + " of " + types.size());
        }
        return types.get(id);
    }
}
