package sonde.bpf.interpreter;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.sys.Errno;

/**
 * BPF_MAP_TYPE_RINGBUF (kernel/bpf/ringbuf.c): records in the order in which they were reserved; a
 * reserved one holds back those behind it. Records take 8 bytes more, rounded up to 8.
 */
public final class VirtualRing extends VirtualMap {
    private static final int HEADER = 8;

    // Flags of bpf_ringbuf_query and bpf_ringbuf_output (include/uapi/linux/bpf.h).
    private static final long NO_WAKEUP_OR_FORCE = 3;

    private static final class Entry {
        final MemoryRegion region;
        final int room;
        boolean busy = true;
        boolean discarded;

        Entry(MemoryRegion region, int room) {
            this.region = region;
            this.room = room;
        }
    }

    private final ArrayDeque<Entry> records = new ArrayDeque<>();
    private long produced;
    private long consumed;
    private long dropped;

    /**
     * An empty one.
     *
     * @param bytes a power of two, at least 4096
     */
    public VirtualRing(String name, int bytes) {
        super(name, 0, 0, bytes);
        if (bytes < 4096 || Integer.bitCount(bytes) != 1) {
            throw new IllegalArgumentException("a ring of %d bytes".formatted(bytes));
        }
    }

    /** Room for a record; null when there is none. */
    @Nullable MemoryRegion reserve(long size) {
        long room = size + HEADER + 7 & ~7L;
        if (size < 0 || size > Integer.MAX_VALUE / 4 || room > maxEntries()) {
            dropped++;
            return null;
        }
        if (produced + room - consumed > maxEntries() - 1L) {
            dropped++;
            return null;
        }
        MemoryRegion region = MemoryRegion.of("record of ring " + name(), new byte[(int) size]);
        records.addLast(new Entry(region, (int) room));
        produced += room;
        return region;
    }

    /** Gives a record to the reader, or drops it; false when it is none that was reserved. */
    boolean finish(@Nullable MemoryRegion region, boolean discard) {
        for (Entry entry : records) {
            if (entry.region == region && entry.busy) {
                entry.busy = false;
                entry.discarded = discard;
                return true;
            }
        }
        return false;
    }

    int output(byte[] record, long flags) {
        if ((flags & ~NO_WAKEUP_OR_FORCE) != 0) {
            return -Errno.EINVAL;
        }
        MemoryRegion region = reserve(record.length);
        if (region == null) {
            return -Errno.EAGAIN;
        }
        region.put(record);
        finish(region, false);
        return 0;
    }

    /** The answer of bpf_ringbuf_query. */
    long query(long what) {
        return switch ((int) what) {
            case 0 -> produced - consumed;
            case 1 -> maxEntries();
            case 2 -> consumed;
            case 3 -> produced;
            default -> 0;
        };
    }

    /** Takes all records that are whole, in their order. */
    public List<byte[]> drain() {
        List<byte[]> drained = new ArrayList<>();
        Entry first = records.peekFirst();
        while (first != null && !first.busy) {
            records.removeFirst();
            consumed += first.room;
            if (!first.discarded) {
                drained.add(first.region.bytes());
            }
            first.region.release();
            first = records.peekFirst();
        }
        return drained;
    }

    /** Records that found no room. */
    public long dropped() {
        return dropped;
    }
}
