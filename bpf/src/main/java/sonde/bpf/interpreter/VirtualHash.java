package sonde.bpf.interpreter;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.sys.Errno;

/**
 * BPF_MAP_TYPE_HASH, LRU_HASH and their per-CPU kinds (kernel/bpf/hashtab.c). A full LRU map drops
 * the entry that was not used for the longest time; the kernel's drops about that one.
 */
public final class VirtualHash extends VirtualMap {
    private final Map<ByteBuffer, MemoryRegion[]> entries;
    private final boolean recent;
    private final int cpus;

    private VirtualHash(
            String name, int keyBytes, int valueBytes, int maxEntries, int cpus, boolean recent) {
        super(name, keyBytes, valueBytes, maxEntries);
        this.entries = new LinkedHashMap<>(16, 0.75f, recent);
        this.recent = recent;
        this.cpus = cpus;
    }

    /** A hash. */
    public static VirtualHash of(String name, int keyBytes, int valueBytes, int maxEntries) {
        return new VirtualHash(name, keyBytes, valueBytes, maxEntries, 1, false);
    }

    /** A hash with values for each CPU. */
    public static VirtualHash perCpu(
            String name, int keyBytes, int valueBytes, int maxEntries, int cpus) {
        return new VirtualHash(name, keyBytes, valueBytes, maxEntries, cpus, false);
    }

    /** A hash that makes room when it is full. */
    public static VirtualHash recent(String name, int keyBytes, int valueBytes, int maxEntries) {
        return new VirtualHash(name, keyBytes, valueBytes, maxEntries, 1, true);
    }

    @Override
    @Nullable MemoryRegion lookup(byte[] key, int cpu) {
        MemoryRegion[] values = entries.get(ByteBuffer.wrap(key));
        return values == null ? null : values[cpus == 1 ? 0 : cpu];
    }

    @Override
    public int update(byte[] key, byte[] value, long flags, int cpu) {
        ByteBuffer wrapped = ByteBuffer.wrap(key.clone());
        MemoryRegion[] before = flags == ANY || flags == EXIST ? entries.get(wrapped) : null;
        boolean there = before != null || entries.containsKey(wrapped);
        int refusal = refusal(flags, there);
        if (refusal != 0) {
            return refusal;
        }
        if (before == null && entries.size() >= maxEntries()) {
            if (!recent) {
                return -Errno.E2BIG;
            }
            Iterator<MemoryRegion[]> oldest = entries.values().iterator();
            release(oldest.next());
            oldest.remove();
        }
        if (before != null && cpus > 1) {
            before[cpu].put(value);
            return 0;
        }
        // A new element each time: who looked it up before keeps seeing the old one.
        MemoryRegion[] values = new MemoryRegion[cpus];
        for (int i = 0; i < cpus; i++) {
            values[i] = MemoryRegion.of("value of map " + name(), new byte[valueBytes()]);
        }
        values[cpus == 1 ? 0 : cpu].put(value);
        entries.put(wrapped, values);
        if (before != null) {
            release(before);
        }
        return 0;
    }

    @Override
    public int delete(byte[] key) {
        MemoryRegion[] removed = entries.remove(ByteBuffer.wrap(key));
        if (removed == null) {
            return -Errno.ENOENT;
        }
        release(removed);
        return 0;
    }

    private static void release(MemoryRegion[] values) {
        for (MemoryRegion value : values) {
            value.release();
        }
    }

    @Override
    public List<byte[]> keys() {
        List<byte[]> keys = new ArrayList<>();
        for (ByteBuffer key : entries.keySet()) {
            keys.add(key.array().clone());
        }
        return keys;
    }
}
