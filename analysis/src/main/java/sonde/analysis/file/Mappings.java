package sonde.analysis.file;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What processes mapped to share while they were recorded, by address. */
final class Mappings {
    // asm-generic/mman-common.h
    private static final int MAP_TYPE = 0xf;
    private static final int MAP_PRIVATE = 2;

    /** Most mappings of one process that are kept; later ones are not known. */
    private static final int MOST = 4096;

    private final Map<Integer, TreeMap<Long, SharedRange>> shared = new HashMap<>();

    /** {@code file} is null where the memory has none. */
    record SharedRange(long bytes, @Nullable OpenFile file) {}

    /** mmap(2) with these arguments gave an address. */
    void mapped(int pid, long[] arguments, @Nullable OpenFile file, long address) {
        SharedRange mapping = new SharedRange(arguments[1], file);
        boolean isShared = (arguments[3] & MAP_TYPE) != MAP_PRIVATE;
        TreeMap<Long, SharedRange> own = shared.get(pid);
        if (own != null && arguments[1] > 0) {
            own.subMap(address, address + arguments[1]).clear();
        }
        if (isShared && (own == null || own.size() < MOST)) {
            shared.computeIfAbsent(pid, _ -> new TreeMap<>()).put(address, mapping);
        }
    }

    /** A child has what its parent mapped. */
    void forked(int parent, int child) {
        TreeMap<Long, SharedRange> own = shared.get(parent);
        if (own != null && parent != child) {
            shared.put(child, new TreeMap<>(own));
        }
    }

    void executed(int pid) {
        shared.remove(pid);
    }

    /** The shared memory at an address; null where none is known. */
    @Nullable SharedRange shared(int pid, long address) {
        Map.Entry<Long, SharedRange> below =
                shared.getOrDefault(pid, new TreeMap<>()).floorEntry(address);
        boolean within = below != null && address - below.getKey() < below.getValue().bytes;
        return within ? below.getValue() : null;
    }
}
