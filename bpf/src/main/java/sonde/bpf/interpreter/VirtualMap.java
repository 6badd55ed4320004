package sonde.bpf.interpreter;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.sys.Errno;

/**
 * A map in Java's memory that answers as the kernel's of that kind does, errors included (negative
 * errno values). Java code uses the same methods as programs do; per-CPU kinds take the CPU.
 */
public abstract sealed class VirtualMap
        permits VirtualArray,
                VirtualHash,
                VirtualPrefixTree,
                VirtualQueue,
                VirtualRing,
                VirtualPrograms,
                VirtualEvents {
    // Flags of BPF_MAP_UPDATE_ELEM (include/uapi/linux/bpf.h).
    static final long ANY = 0;
    static final long NO_EXIST = 1;
    static final long EXIST = 2;

    /** An entry of all maps together, in bytes: what is larger is no test. */
    private static final long MOST_BYTES = 1L << 30;

    private final String name;
    private final int keyBytes;
    private final int valueBytes;
    private final int maxEntries;
    private final MemoryRegion handle;

    VirtualMap(String name, int keyBytes, int valueBytes, int maxEntries) {
        if (keyBytes < 0 || valueBytes < 0 || maxEntries < 1 || valueBytes > MOST_BYTES) {
            throw new IllegalArgumentException(
                    "map %s: keys of %d bytes, values of %d, %d entries"
                            .formatted(name, keyBytes, valueBytes, maxEntries));
        }
        this.name = name;
        this.keyBytes = keyBytes;
        this.valueBytes = valueBytes;
        this.maxEntries = maxEntries;
        this.handle = MemoryRegion.readOnly("map " + name, new byte[0]);
    }

    /** Its name. */
    public final String name() {
        return name;
    }

    /** Bytes of a key. */
    public final int keyBytes() {
        return keyBytes;
    }

    /** Bytes of a value, of one CPU. */
    public final int valueBytes() {
        return valueBytes;
    }

    /** Entries that have room; bytes of a ring. */
    public final int maxEntries() {
        return maxEntries;
    }

    final MemoryRegion handle() {
        return handle;
    }

    /** The value of a key as a program sees it; null when there is none, or no keys are. */
    @Nullable MemoryRegion lookup(byte[] key, int cpu) {
        return null;
    }

    /** A copy of a value; null when there is none. */
    public final byte @Nullable [] get(byte[] key, int cpu) {
        MemoryRegion value = lookup(key, cpu);
        return value == null ? null : value.bytes();
    }

    /** {@link #get(byte[], int)} on the first CPU. */
    public final byte @Nullable [] get(byte[] key) {
        return get(key, 0);
    }

    /** Sets a value; 0 or a negative errno, EINVAL for kinds without keys. */
    public int update(byte[] key, byte[] value, long flags, int cpu) {
        return -Errno.EINVAL;
    }

    /** Removes an entry; 0 or a negative errno, EINVAL for kinds without keys. */
    public int delete(byte[] key) {
        return -Errno.EINVAL;
    }

    /** The keys that are there. */
    public List<byte[]> keys() {
        return List.of();
    }

    /** Adds to a queue or stack; EINVAL for others. */
    int push(byte[] value, long flags) {
        return -Errno.EINVAL;
    }

    /** Takes from a queue or stack, or looks; EINVAL for others. */
    int pop(byte[] into, boolean remove) {
        return -Errno.EINVAL;
    }

    /** What an update may do: 0, or why not. */
    static int refusal(long flags, boolean there) {
        if (flags < 0 || flags > EXIST) {
            return -Errno.EINVAL;
        }
        if (flags == NO_EXIST && there) {
            return -Errno.EEXIST;
        }
        return flags == EXIST && !there ? -Errno.ENOENT : 0;
    }
}
