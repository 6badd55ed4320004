package sonde.bpf;

import org.jspecify.annotations.Nullable;

/**
 * What a map is to be. Flags that a type cannot do without (no preallocation for tries and local
 * storage, mappable for arenas) are added by {@link BpfMap#create}.
 *
 * @param name at most 15 bytes of letters, digits, {@code _} and {@code .}
 * @param keyBytes 4 for arrays, 0 for ring buffers, queues and Bloom filters
 * @param valueBytes 4 for perf event arrays, 0 for ring buffers
 * @param maxEntries entries; bytes for ring buffers, pages for arenas, 0 for local storage
 * @param flags BPF_F_* of map_flags
 * @param extra map_extra: hashes of a Bloom filter, the address of an arena
 * @param node where its memory is to lie (with {@link #ON_NUMA_NODE}); -1 for anywhere
 * @param inner what the maps of a map of maps look like
 * @param types BTF of key and value; null leaves them out where the type allows
 */
public record MapSpec(
        String name,
        MapType type,
        int keyBytes,
        int valueBytes,
        int maxEntries,
        int flags,
        long extra,
        int node,
        @Nullable BpfMap inner,
        @Nullable MapTypes types) {
    /** Entries are made when they are put, not beforehand. */
    public static final int NO_PREALLOCATION = 1;

    /** LRU hashes keep a list per CPU. */
    public static final int LRU_LIST_PER_CPU = 2;

    /** On the node that is named. */
    public static final int ON_NUMA_NODE = 1 << 2;

    /** {@link BpfMap#put} and {@link BpfMap#delete} fail here with EPERM; programs still write. */
    public static final int READ_ONLY_HERE = 1 << 3;

    /** Programs may only read. */
    public static final int READ_ONLY_IN_PROGRAMS = 1 << 7;

    /** The values of an array can be mapped (Linux 5.5). */
    public static final int MAPPABLE = 1 << 10;

    /**
     * Types of key and value.
     *
     * @param btfFd descriptor of a loaded BTF; the map keeps its own reference
     */
    public record MapTypes(int btfFd, int keyType, int valueType) {}

    /** A map without flags and types. */
    public MapSpec(String name, MapType type, int keyBytes, int valueBytes, int maxEntries) {
        this(name, type, keyBytes, valueBytes, maxEntries, 0, 0, -1, null, null);
    }

    /** With flags added. */
    public MapSpec with(int more) {
        return new MapSpec(
                name,
                type,
                keyBytes,
                valueBytes,
                maxEntries,
                flags | more,
                extra,
                node,
                inner,
                types);
    }

    /** With map_extra. */
    public MapSpec withExtra(long value) {
        return new MapSpec(
                name, type, keyBytes, valueBytes, maxEntries, flags, value, node, inner, types);
    }

    /** With its memory on a NUMA node. */
    public MapSpec onNode(int other) {
        return new MapSpec(
                name,
                type,
                keyBytes,
                valueBytes,
                maxEntries,
                flags | ON_NUMA_NODE,
                extra,
                other,
                inner,
                types);
    }

    /** With a pattern for its maps, which stays the caller's and may be closed after creation. */
    public MapSpec withInner(BpfMap pattern) {
        return new MapSpec(
                name, type, keyBytes, valueBytes, maxEntries, flags, extra, node, pattern, types);
    }

    /** With BTF of key and value. */
    public MapSpec withTypes(@Nullable MapTypes both) {
        return new MapSpec(
                name, type, keyBytes, valueBytes, maxEntries, flags, extra, node, inner, both);
    }

    /** {@code "map counts (hash, key 4, value 8, 1024 entries)"}. */
    @Override
    public String toString() {
        return "map %s (%s, key %d, value %d, %d entries)"
                .formatted(name, type.kernelName(), keyBytes, valueBytes, maxEntries);
    }
}
