package sonde.tools.report;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import sonde.analysis.Bindings;
import sonde.analysis.Operator;
import sonde.analysis.Wanted;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.IntegerField;
import sonde.event.Source;

/** Where kernel and modules lie: PERF_RECORD_MMAP of pid -1. Asked by several threads. */
final class KernelMaps implements Operator {
    // include/uapi/linux/perf_event.h
    private static final int PERF_RECORD_MISC_CPUMODE_MASK = 7;
    private static final int PERF_RECORD_MISC_KERNEL = 1;
    private static final int MOST_MAPS = 1 << 16;

    private final Bindings<Fields> bindings = new Bindings<>(Fields::new);
    // Unsigned order: the sign bit is turned.
    private final ConcurrentSkipListMap<Long, Place> places = new ConcurrentSkipListMap<>();

    private final Map<String, Long> references = new ConcurrentHashMap<>();

    private record Place(long end, String file) {}

    private static final class Fields {
        private final Wanted wanted;
        private final Map<Integer, EventType> types = new java.util.HashMap<>();

        Fields(Source source) {
            wanted = new Wanted(source);
            for (String name : List.of("mmap", "mmap2")) {
                wanted.add(1, EventType.PERF_RECORD, name, "addr", "len", "pgoff", "misc");
                source.type(EventType.PERF_RECORD, name).ifPresent(t -> types.put(t.id(), t));
            }
        }
    }

    @Override
    public Need need() {
        return Need.TIME_ORDERED;
    }

    @Override
    public int[] select(Source source) {
        return bindings.of(source).wanted.codes();
    }

    @Override
    public void accept(Batch batch, int from, int to) {
        Fields fields = bindings.of(batch);
        for (int row = from; row < to; row++) {
            EventType type = fields.types.get(batch.type(row));
            if (type == null) {
                continue;
            }
            IntegerField misc = type.integer("misc");
            long mode = misc.of(batch, row) & PERF_RECORD_MISC_CPUMODE_MASK;
            if (mode == PERF_RECORD_MISC_KERNEL && places.size() < MOST_MAPS) {
                long start = type.integer("addr").of(batch, row);
                long end = start + type.integer("len").of(batch, row);
                String file = type.string("filename").of(batch, row);
                places.put(start ^ Long.MIN_VALUE, new Place(end, name(file)));
                refer(file, type.integer("pgoff").of(batch, row));
            }
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
    Map<String, Long> references() {
        return Map.copyOf(references);
    }

    /** Takes a map. */
    interface Each {
        void map(long start, long end, String file);
    }

    /** All maps, by address. */
    void forEach(Each each) {
        places.forEach(
                (start, place) -> each.map(start ^ Long.MIN_VALUE, place.end(), place.file()));
    }

    /** {@code "[kernel.kallsyms]_text"} names the symbol that begins the map. */
    private static String name(String path) {
        int end = path.indexOf(']');
        return path.startsWith("[kernel") && end > 0 ? path.substring(0, end + 1) : path;
    }

    /** Whether an address lies in the kernel. */
    boolean has(long address) {
        return !file(address).isEmpty();
    }

    /** What an address lies in; empty for nothing. */
    String file(long address) {
        Map.Entry<Long, Place> found = places.floorEntry(address ^ Long.MIN_VALUE);
        if (found == null) {
            return "";
        }
        long end = found.getValue().end();
        // A map to the end of memory wraps to 0.
        boolean inside = end == 0 || Long.compareUnsigned(address, end) < 0;
        return inside ? found.getValue().file() : "";
    }
}
