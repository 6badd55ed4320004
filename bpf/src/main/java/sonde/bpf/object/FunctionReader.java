package sonde.bpf.object;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import sonde.binary.btf.BtfExtension;
import sonde.binary.btf.BtfExtension.LineEntry;
import sonde.bpf.insn.InstructionEncoding;
import sonde.bpf.insn.InvalidInstructionException;
import sonde.bpf.object.ObjectException.ObjectPosition;
import sonde.bpf.object.ObjectFunction.FunctionReference;
import sonde.bpf.object.ObjectFunction.FunctionReference.FunctionPointer;
import sonde.bpf.object.ObjectFunction.FunctionStart;
import sonde.bpf.object.ObjectImage.ImageSection;
import sonde.bpf.object.ObjectImage.ImageSymbol;
import sonde.bpf.object.ObjectImage.Reloc;
import sonde.bpf.object.ObjectImage.SectionUse;
import sonde.bpf.object.TypeFixes.FixedTypes;

/**
 * Cuts code sections into functions and says what their instructions refer to
 * (Documentation/bpf/llvm_reloc.rst).
 */
final class FunctionReader {
    static final String LIBRARY = ".text";

    // Relocation types.
    private static final int R_BPF_64_64 = 1;
    private static final int R_BPF_64_ABS64 = 2;
    private static final int R_BPF_64_ABS32 = 3;
    private static final int R_BPF_64_NODYLD32 = 4;
    private static final int R_BPF_64_32 = 10;

    private static final int WORD_BYTES = 8;
    private static final int LOAD_WIDE = 0x18;
    private static final int CALL = 0x85;
    private static final int CALL_LOCAL = 1;

    private final ObjectImage image;
    private final FixedTypes fixes;
    private final List<ObjectMap> maps;
    private final List<GlobalSection> data;

    FunctionReader(
            ObjectImage image, FixedTypes fixes, List<ObjectMap> maps, List<GlobalSection> data) {
        this.image = image;
        this.fixes = fixes;
        this.maps = maps;
        this.data = data;
    }

    /** All functions, in the order of sections and places. */
    Map<FunctionStart, ObjectFunction> read() throws ObjectException {
        Map<FunctionStart, ObjectFunction> all = new LinkedHashMap<>();
        for (int i = 0; i < image.parts().size(); i++) {
            if (image.parts().get(i).use() == SectionUse.CODE) {
                functions(i, all);
            }
        }
        return all;
    }

    private void functions(int index, Map<FunctionStart, ObjectFunction> all)
            throws ObjectException {
        ImageSection part = image.parts().get(index);
        ObjectPosition place = image.place().section(part.name());
        TreeMap<Integer, ImageSymbol> symbols = new TreeMap<>();
        for (ImageSymbol symbol : image.symbols()) {
            if (symbol.part() == index && symbol.isFunction()) {
                check(symbol, part, place.symbol(symbol.name()));
                symbols.merge((int) symbol.value(), symbol, (a, b) -> a.isLocal() ? b : a);
            }
        }
        long[] words = words(part, place);
        SectionSlices<Reloc> relocs = new SectionSlices<>(part.relocations(), Reloc::offset);
        SectionSlices<BtfExtension.Function> types =
                new SectionSlices<>(part.functions(), BtfExtension.Function::offset);
        SectionSlices<LineEntry> lines = new SectionSlices<>(part.lines(), LineEntry::offset);
        SectionSlices<BtfExtension.CoreRelocation> core =
                new SectionSlices<>(part.core(), BtfExtension.CoreRelocation::offset);
        int end = 0;
        for (ImageSymbol symbol : symbols.values()) {
            int from = (int) symbol.value();
            int to = from + (int) symbol.size();
            if (from < end) {
                throw new ObjectException(
                        place.symbol(symbol.name()), "overlaps the function before it");
            }
            end = to;
            int start = from / WORD_BYTES;
            long[] own = Arrays.copyOfRange(words, start, to / WORD_BYTES);
            ObjectFunction function =
                    new ObjectFunction(
                            symbol.name(),
                            part.name(),
                            start,
                            !part.name().equals(LIBRARY) && !symbol.isLocal(),
                            own,
                            references(own, start, relocs.between(from, to), place, symbol.name()),
                            types.between(from, to),
                            lines.between(from, to),
                            core.between(from, to));
            all.put(new FunctionStart(part.name(), start), function);
        }
    }

    private static void check(ImageSymbol symbol, ImageSection part, ObjectPosition place)
            throws ObjectException {
        if (symbol.value() % WORD_BYTES != 0
                || symbol.size() % WORD_BYTES != 0
                || symbol.size() <= 0
                || symbol.value() < 0
                || symbol.value() > part.sizeBytes() - symbol.size()) {
            throw new ObjectException(
                    place,
                    "function of %d bytes at %d in %d"
                            .formatted(symbol.size(), symbol.value(), part.sizeBytes()));
        }
    }

    private static long[] words(ImageSection part, ObjectPosition place) throws ObjectException {
        try {
            return InstructionEncoding.words(part.bytes(), ByteOrder.nativeOrder());
        } catch (InvalidInstructionException e) {
            throw new ObjectException(place, String.valueOf(e.getMessage()), e);
        }
    }

    private interface EntryOffset<T> {
        int of(T entry);
    }

    /** Entries of a section by their place in it. */
    private static final class SectionSlices<T> {
        private final List<T> sorted;
        private final EntryOffset<T> offset;

        SectionSlices(List<T> entries, EntryOffset<T> offset) {
            this.offset = offset;
            sorted = new ArrayList<>(entries);
            sorted.sort(Comparator.comparingInt(offset::of));
        }

        List<T> between(int from, int to) {
            return List.copyOf(sorted.subList(first(from), first(to)));
        }

        private int first(int limit) {
            int low = 0;
            int high = sorted.size();
            while (low < high) {
                int middle = low + high >>> 1;
                if (offset.of(sorted.get(middle)) < limit) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            return low;
        }
    }

    private Map<Integer, FunctionReference> references(
            long[] words, int start, List<Reloc> relocs, ObjectPosition section, String function)
            throws ObjectException {
        Map<Integer, FunctionReference> found = new HashMap<>();
        for (Reloc reloc : relocs) {
            int slot = reloc.offset() / WORD_BYTES - start;
            ImageSymbol symbol = image.symbols().get(reloc.symbol());
            ObjectPosition place = section.symbol(symbol.name()).at(start + slot);
            if (reloc.offset() % WORD_BYTES != 0) {
                throw new ObjectException(place, "relocation inside of an instruction");
            }
            found.put(slot, reference(words, slot, reloc, symbol, place));
        }
        for (int slot = 0; slot < words.length; slot++) {
            int code = (int) words[slot] & 0xff;
            boolean local = code == CALL && source(words[slot]) == CALL_LOCAL;
            if (local && !found.containsKey(slot)) {
                int target = start + slot + immediate(words[slot]) + 1;
                if (target < start || target >= start + words.length) {
                    found.put(
                            slot,
                            new FunctionReference.CallOf(
                                    new FunctionStart(section.section(), target)));
                }
            }
            if (code == LOAD_WIDE) {
                if (slot + 1 >= words.length) {
                    throw new ObjectException(
                            section.symbol(function).at(start + slot),
                            "the second half of a 64-bit constant is missing");
                }
                slot++;
            }
        }
        return found;
    }

    private static int source(long word) {
        return (int) (word >>> 12) & 0xf;
    }

    private static int immediate(long word) {
        return (int) (word >>> 32);
    }

    private FunctionReference reference(
            long[] words, int slot, Reloc reloc, ImageSymbol symbol, ObjectPosition place)
            throws ObjectException {
        int code = (int) words[slot] & 0xff;
        switch (reloc.type()) {
            case R_BPF_64_64, R_BPF_64_32 -> {}
            case R_BPF_64_ABS64, R_BPF_64_ABS32, R_BPF_64_NODYLD32 ->
                    throw new ObjectException(
                            place, "relocation of type " + reloc.type() + ", which is for data");
            default -> throw new ObjectException(place, "unknown relocation " + reloc.type());
        }
        if (code != CALL && code != LOAD_WIDE) {
            throw new ObjectException(
                    place, "relocation of an instruction with opcode 0x%02x".formatted(code));
        }
        if (symbol.isExtern()) {
            return outside(code, symbol, place);
        }
        if (symbol.part() < 0) {
            throw new ObjectException(place, "is in no section that can be loaded");
        }
        ImageSection target = image.parts().get(symbol.part());
        long offset = symbol.value();
        if (code == CALL) {
            if (source(words[slot]) != CALL_LOCAL) {
                throw new ObjectException(place, "a call that is no call of a function");
            }
            if (target.use() != SectionUse.CODE || offset % WORD_BYTES != 0) {
                throw new ObjectException(place, "a call into " + target.name());
            }
            long to = offset / WORD_BYTES + immediate(words[slot]) + 1;
            return new FunctionReference.CallOf(place(target, to, place));
        }
        if (target.use() == SectionUse.CODE) {
            long bytes = offset + immediate(words[slot]);
            if (bytes % WORD_BYTES != 0) {
                throw new ObjectException(place, "no address of a function");
            }
            return new FunctionPointer(place(target, bytes / WORD_BYTES, place));
        }
        return memory(target, offset, immediate(words[slot]), place);
    }

    private static FunctionStart place(ImageSection target, long slot, ObjectPosition place)
            throws ObjectException {
        if (slot < 0 || slot >= target.sizeBytes() / WORD_BYTES) {
            throw new ObjectException(
                    place, "leads to instruction " + slot + " of " + target.name());
        }
        return new FunctionStart(target.name(), (int) slot);
    }

    private FunctionReference memory(
            ImageSection target, long value, int addend, ObjectPosition place)
            throws ObjectException {
        long offset = value + addend;
        if (target.use() == SectionUse.MAPS) {
            for (ObjectMap map : maps) {
                if (map.offset() == offset) {
                    return new FunctionReference.MapOf(map);
                }
            }
            throw new ObjectException(place, "no map begins at byte " + offset + " of .maps");
        }
        for (GlobalSection one : data) {
            if (one.section().equals(target.name())) {
                if (offset < Integer.MIN_VALUE || offset > Integer.MAX_VALUE) {
                    throw new ObjectException(place, "byte " + offset + " of " + target.name());
                }
                return new FunctionReference.DataOf(one, (int) offset);
            }
        }
        throw new ObjectException(place, "refers to " + target.name() + ", which is not loaded");
    }

    private FunctionReference outside(int code, ImageSymbol symbol, ObjectPosition place)
            throws ObjectException {
        ExternSymbol extern = fixes.externs().get(symbol.name());
        if (extern == null) {
            throw new ObjectException(
                    place,
                    "is defined in none of the objects, and declared neither __ksym nor __kconfig");
        }
        // The address of a function is asked for to see whether it is there.
        boolean call = code == CALL;
        if (call && extern.kind() != ExternSymbol.Kind.FUNCTION) {
            throw new ObjectException(place, "called, and is not a function");
        }
        return call
                ? new FunctionReference.CallOutside(extern)
                : new FunctionReference.Outside(extern);
    }
}
