package sonde.symbol;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;

/** Where kernel and modules lie, as perf's records of their mappings say. Safe for threads. */
public final class KernelMaps {
    private static final int MOST_MAPS = 1 << 16;

    // Unsigned order: the sign bit is turned.
    private final ConcurrentSkipListMap<Long, KernelMapping> places = new ConcurrentSkipListMap<>();
    private final Map<String, Long> references = new ConcurrentHashMap<>();

    private record KernelMapping(long end, String file) {}

    KernelMaps() {}

    /** A part of the kernel was mapped: PERF_RECORD_MMAP with PERF_RECORD_MISC_KERNEL. */
    public void mapped(CodeMapping part) {
        if (places.size() < MOST_MAPS) {
            long end = part.start() + part.lengthBytes();
            places.put(part.start() ^ Long.MIN_VALUE, new KernelMapping(end, name(part.path())));
            refer(part.path(), part.fileOffset());
        }
    }

    /**
     * The name of the kernel's map ends with that of a symbol, whose address stands as its offset:
     * perf_event__synthesize_kernel_mmap() of tools/perf/util/synthetic-events.c. It is 0 where
     * addresses were hidden.
     */
    private void refer(String file, long address) {
        String symbol = file.substring(file.indexOf(']') + 1);
        if (file.startsWith("[kernel.kallsyms]") && !symbol.isEmpty() && address != 0) {
            references.putIfAbsent(symbol, address);
        }
    }

    /** Addresses of the symbols that maps named. */
    public Map<String, Long> references() {
        return Map.copyOf(references);
    }

    /** Takes a map. */
    public interface Each {
        /** Maps a range of addresses: {@code "[kernel.kallsyms]"}, a module's name or path. */
        void map(long start, long end, String file);
    }

    /** All maps, by address. */
    public void forEach(Each each) {
        places.forEach(
                (start, place) -> each.map(start ^ Long.MIN_VALUE, place.end(), place.file()));
    }

    /** The first address of each. */
    public long[] starts() {
        return places.keySet().stream().mapToLong(start -> start ^ Long.MIN_VALUE).toArray();
    }

    /** {@code "[kernel.kallsyms]_text"} names the symbol that begins the map. */
    private static String name(String path) {
        int end = path.indexOf(']');
        return path.startsWith("[kernel") && end > 0 ? path.substring(0, end + 1) : path;
    }

    /** Whether an address lies in the kernel. */
    public boolean has(long address) {
        return !file(address).isEmpty();
    }

    /** What an address lies in; empty for nothing. */
    public String file(long address) {
        Map.Entry<Long, KernelMapping> found = places.floorEntry(address ^ Long.MIN_VALUE);
        if (found == null) {
            return "";
        }
        long end = found.getValue().end();
        // A map to the end of memory wraps to 0.
        boolean inside = end == 0 || Long.compareUnsigned(address, end) < 0;
        return inside ? found.getValue().file() : "";
    }
}
