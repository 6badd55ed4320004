package sonde.bpf.map;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import sonde.bpf.BpfMap;
import sonde.bpf.BpfMap.UpdateMode;
import sonde.bpf.MapVisit;
import sonde.sys.SyscallException;

/**
 * A map seen through codecs. Closing the map is its maker's task.
 *
 * <p>Of per-CPU maps {@link #get} and {@link #forEach} hand out the value of the first CPU, {@link
 * #getEach} those of all, and {@link #put} sets all to the same.
 *
 * @param <K> of keys
 * @param <V> of values
 */
public final class TypedMap<K, V> {
    private final BpfMap map;
    private final Codec<K> keys;
    private final Codec<V> values;

    /**
     * A view.
     *
     * @throws IllegalArgumentException when the codecs do not have the map's sizes
     */
    public TypedMap(BpfMap map, Codec<K> keys, Codec<V> values) {
        if (keys.bytes() != map.spec().keyBytes() || values.bytes() != map.spec().valueBytes()) {
            throw new IllegalArgumentException(
                    "%s does not have keys of %d and values of %d bytes"
                            .formatted(map.spec(), keys.bytes(), values.bytes()));
        }
        this.map = map;
        this.keys = keys;
        this.values = values;
    }

    /** The map itself. */
    public BpfMap map() {
        return map;
    }

    /** The value of a key; null when there is none. */
    public @Nullable V get(K key) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(map.valueBytes(), 8);
            return map.get(key(arena, key), value) ? values.decode(value) : null;
        }
    }

    /** The values of a key on each possible CPU; empty when there is none. */
    public List<V> getEach(K key) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(map.valueBytes(), 8);
            if (!map.get(key(arena, key), value)) {
                return List.of();
            }
            List<V> all = new ArrayList<>();
            int stride = stride();
            for (int at = 0; at + stride <= map.valueBytes(); at += stride) {
                all.add(values.decode(value.asSlice(at, values.bytes())));
            }
            return all;
        }
    }

    /** The value of a key, taken out of the map; null when there is none. */
    public @Nullable V take(K key) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(map.valueBytes(), 8);
            return map.take(key(arena, key), value) ? values.decode(value) : null;
        }
    }

    /** Sets the value of a key. */
    public void put(K key, V value) throws SyscallException {
        put(key, value, UpdateMode.ANY);
    }

    /** Sets the value of a key if it is there, or is not. */
    public void put(K key, V value, UpdateMode mode) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocate(map.valueBytes(), 8);
            int stride = stride();
            for (int at = 0; at + stride <= map.valueBytes(); at += stride) {
                values.encode(value, all.asSlice(at, values.bytes()));
            }
            map.put(key(arena, key), all, mode);
        }
    }

    /** Removes a key; false when it was not there. */
    public boolean delete(K key) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            return map.delete(key(arena, key));
        }
    }

    /** All entries; see {@link BpfMap#forEach} for what is promised under changes. */
    public MapVisit forEach(BiConsumer<? super K, ? super V> entries) throws SyscallException {
        return map.forEach((key, value) -> entries.accept(keys.decode(key), values.decode(value)));
    }

    private int stride() {
        return map.spec().type().isPerCpu() ? values.bytes() + 7 & ~7 : map.valueBytes();
    }

    private MemorySegment key(Arena arena, K key) {
        MemorySegment segment = arena.allocate(Math.max(1, keys.bytes()), 8);
        keys.encode(key, segment);
        return segment.asSlice(0, keys.bytes());
    }
}
