package sonde.bpf.inventory;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.Btf;
import sonde.bpf.BpfMap;
import sonde.bpf.BpfMap.UpdateMode;
import sonde.bpf.LoadedBtf;
import sonde.bpf.MapFacts;
import sonde.sys.Errno;
import sonde.sys.SyscallException;

/** Entries of any map as bytes, and by their BTF where the map has one. */
public final class MapEntries {
    private final BpfMap map;
    private final @Nullable Btf btf;
    private final MapFacts facts;
    private final List<Entry> entries = new ArrayList<>();

    /**
     * One entry.
     *
     * @param values one, or one for each possible CPU
     * @param formatted {@code "key"} and {@code "value"} by their types; empty without BTF
     * @param problem why the value cannot be read; 0 when it is there
     */
    public record Entry(
            byte[] key, List<byte[]> values, Map<String, Object> formatted, int problem) {}

    private MapEntries(BpfMap map) throws SyscallException {
        this.map = map;
        this.facts = map.facts();
        this.btf = types(facts);
    }

    private static @Nullable Btf types(MapFacts facts) throws SyscallException {
        if (facts.btfId() == 0 || facts.valueType() == 0) {
            return null;
        }
        try (LoadedBtf loaded = LoadedBtf.openId(facts.btfId())) {
            MemorySegment bytes = MemorySegment.ofArray(loaded.bytes());
            return Btf.read(Input.of("BTF " + facts.btfId(), bytes));
        } catch (MalformedInputException e) {
            return null;
        }
    }

    /** All entries; see {@link BpfMap#forEach} for what is promised under changes. */
    public static List<Entry> of(BpfMap map) throws IOException {
        MapEntries all = new MapEntries(map);
        if (map.spec().type().isReadableBySlots()) {
            all.walk();
        } else {
            map.forEach((key, value) -> all.add(key.toArray(JAVA_BYTE), value.toArray(JAVA_BYTE)));
        }
        return all.entries;
    }

    /** Every key that the kernel names, also where it keeps the value to itself. */
    private void walk() throws SyscallException {
        byte[] key = next(map, null);
        for (long left = map.spec().maxEntries() & 0xffff_ffffL; key != null && left > 0; left--) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment value = arena.allocate(Math.max(1, map.valueBytes()), 8);
                if (map.get(copy(arena, key), value)) {
                    add(key, value.asSlice(0, map.valueBytes()).toArray(JAVA_BYTE));
                } else {
                    entries.add(new Entry(key, List.of(), Map.of(), Errno.ENOENT));
                }
            } catch (SyscallException e) {
                entries.add(new Entry(key, List.of(), Map.of(), e.errno()));
            }
            key = next(map, key);
        }
    }

    private void add(byte[] key, byte[] value) {
        List<byte[]> values = new ArrayList<>();
        int size = map.spec().valueBytes();
        boolean perCpu = map.spec().type().isPerCpu();
        int stride = perCpu ? size + 7 & ~7 : Math.max(1, value.length);
        for (int at = 0; at + stride <= value.length; at += stride) {
            values.add(java.util.Arrays.copyOfRange(value, at, at + (perCpu ? size : stride)));
        }
        entries.add(new Entry(key, values, formatted(key, values), 0));
    }

    private Map<String, Object> formatted(byte[] key, List<byte[]> values) {
        if (btf == null || values.isEmpty()) {
            return Map.of();
        }
        try {
            Map<String, Object> typed = new LinkedHashMap<>();
            if (facts.keyType() != 0) {
                typed.put("key", TypedBytes.of(btf, facts.keyType(), key));
            }
            if (values.size() == 1) {
                typed.put("value", TypedBytes.of(btf, facts.valueType(), values.getFirst()));
                return typed;
            }
            List<Map<String, Object>> cpus = new ArrayList<>();
            for (int cpu = 0; cpu < values.size(); cpu++) {
                Map<String, Object> one = new LinkedHashMap<>();
                one.put("cpu", (long) cpu);
                one.put("value", TypedBytes.of(btf, facts.valueType(), values.get(cpu)));
                cpus.add(one);
            }
            typed.put("values", cpus);
            return typed;
        } catch (MalformedInputException e) {
            return Map.of();
        }
    }

    /**
     * The entry of a key; of a queue or stack, which have none, the next value, which stays there.
     *
     * @return null when there is none
     */
    public static @Nullable Entry get(BpfMap map, byte[] key) throws SyscallException {
        return fetch(map, key, false);
    }

    /** As {@link #get}, and removes it: hashes since Linux 5.14, queues and stacks. */
    public static @Nullable Entry take(BpfMap map, byte[] key) throws SyscallException {
        return fetch(map, key, true);
    }

    private static @Nullable Entry fetch(BpfMap map, byte[] key, boolean remove)
            throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = key.length == 0 ? MemorySegment.NULL : copy(arena, key);
            MemorySegment value = arena.allocate(Math.max(1, map.valueBytes()), 8);
            if (!(remove ? map.take(from, value) : map.get(from, value))) {
                return null;
            }
            MapEntries one = new MapEntries(map);
            one.add(key, value.asSlice(0, map.valueBytes()).toArray(JAVA_BYTE));
            return one.entries.getFirst();
        }
    }

    /**
     * The key behind a key in the map's own order; the first behind none.
     *
     * @return null behind the last
     */
    public static byte @Nullable [] next(BpfMap map, byte @Nullable [] key)
            throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment after = key == null ? MemorySegment.NULL : copy(arena, key);
            MemorySegment next = arena.allocate(Math.max(1, map.spec().keyBytes()), 8);
            return map.nextKey(after, next)
                    ? next.asSlice(0, map.spec().keyBytes()).toArray(JAVA_BYTE)
                    : null;
        }
    }

    /** Puts an entry; a per-CPU map gets the value on every CPU. */
    public static void put(BpfMap map, byte[] key, byte[] value) throws SyscallException {
        put(map, key, value, UpdateMode.ANY);
    }

    /** As the other, where the key is there, is not, or in any case. */
    public static void put(BpfMap map, byte[] key, byte[] value, UpdateMode mode)
            throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocate(map.valueBytes(), 8);
            int stride = map.spec().type().isPerCpu() ? value.length + 7 & ~7 : value.length;
            for (int at = 0; at + stride <= map.valueBytes() && stride > 0; at += stride) {
                MemorySegment.copy(value, 0, all, JAVA_BYTE, at, value.length);
            }
            map.put(key.length == 0 ? MemorySegment.NULL : copy(arena, key), all, mode);
        }
    }

    /** Removes an entry; false when there was none. */
    public static boolean delete(BpfMap map, byte[] key) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            return map.delete(copy(arena, key));
        }
    }

    private static MemorySegment copy(Arena arena, byte[] bytes) {
        MemorySegment copy = arena.allocate(Math.max(1, bytes.length), 8);
        MemorySegment.copy(bytes, 0, copy, JAVA_BYTE, 0, bytes.length);
        return copy.asSlice(0, bytes.length);
    }
}
