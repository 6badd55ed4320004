package sonde.lang.bpftrace.lower;

import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.lang.bpftrace.check.MapSymbol;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.IntType;

/**
 * How a map of the script lies in the kernel.
 *
 * @param name with its {@code @}
 * @param scalar no keys; an array of one value behind which 8 bytes say whether there is one, or,
 *     of values beyond 8 bytes, a hash with the key 0
 * @param valueBytes of the map, with those 8 bytes, rounded up to 8
 */
public record MapPlan(
        String name,
        boolean scalar,
        ValueType key,
        ValueType value,
        MapType type,
        int keyBytes,
        int valueBytes,
        int entries) {
    /** How a map is kept. */
    static MapPlan of(MapSymbol symbol, int maxEntries) {
        ValueType value = symbol.value();
        boolean aggregate = symbol.isAggregate();
        int size = value.sizeBytes() + 7 & ~7;
        if (symbol.isScalar() && symbol.kind().isEmpty()) {
            boolean array = aggregate || MemoryLowering.isNumber(value);
            MapType type =
                    !array ? MapType.HASH : aggregate ? MapType.PER_CPU_ARRAY : MapType.ARRAY;
            return new MapPlan(
                    symbol.name(),
                    true,
                    IntType.I64,
                    value,
                    type,
                    array ? 4 : 8,
                    array ? size + 8 : size,
                    1);
        }
        MapType type =
                switch (symbol.kind()) {
                    case "lruhash" -> MapType.LRU_HASH;
                    case "percpuhash" -> MapType.PER_CPU_HASH;
                    case "percpulruhash" -> MapType.LRU_PER_CPU_HASH;
                    default -> aggregate ? MapType.PER_CPU_HASH : MapType.HASH;
                };
        int entries = symbol.entries() > 0 ? (int) symbol.entries() : maxEntries;
        return new MapPlan(
                symbol.name(),
                symbol.isScalar(),
                symbol.key(),
                value,
                type,
                Math.max(1, symbol.key().sizeBytes()),
                size,
                entries);
    }

    /**
     * Whether the tracer keeps it, as its keys are known to nobody else: the kernel has none of it,
     * and programs send {@link EventAction.PutAction}.
     */
    public boolean isKeptByTracer() {
        return !scalar && key.isCopied();
    }

    /** Whether each CPU has values of its own. */
    public boolean isPerCpu() {
        return type == MapType.PER_CPU_HASH
                || type == MapType.LRU_PER_CPU_HASH
                || type == MapType.PER_CPU_ARRAY;
    }

    /** Whether it is an array of one value. */
    public boolean isArray() {
        return type == MapType.ARRAY || type == MapType.PER_CPU_ARRAY;
    }

    /** Where an array says whether there is a value. */
    int presentAt() {
        return valueBytes - 8;
    }

    /** The map to create. */
    public MapSpec spec() {
        String plain = name.substring(1).replaceAll("[^A-Za-z0-9_.]", "_");
        String kernel = plain.isEmpty() ? "map" : plain;
        return new MapSpec(
                kernel.substring(0, Math.min(15, kernel.length())),
                type,
                keyBytes,
                valueBytes,
                entries);
    }
}
