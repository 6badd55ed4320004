package sonde.recording.ftrace;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;

/**
 * Walks sub-buffers of one CPU's ring and adds a row per event.
 *
 * <p>A page: u64 time stamp, long commit (bits 0–26 bytes of data, bit 31 events were lost before
 * this page, bit 30 their number stands behind the data as a long), then events. An event: u32 with
 * type_len (low 5 bits; the high 5 on big-endian kernels) and time delta; kernel
 * include/linux/ring_buffer.h, kernel/trace/ring_buffer.c.
 */
public final class PageReader {
    private static final ValueLayout.OfShort U16 = ValueLayout.JAVA_SHORT_UNALIGNED;
    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED;

    // kernel/trace/ring_buffer.c RB_MISSED_EVENTS, RB_MISSED_STORED; length: local_read's low bits.
    private static final int MISSED_EVENTS = 1 << 31;
    private static final int MISSED_STORED = 1 << 30;
    private static final int LENGTH_MASK = (1 << 27) - 1;

    // enum ring_buffer_type
    private static final int PADDING = 29;
    private static final int TIME_EXTEND = 30;
    private static final int TIME_STAMP = 31;
    private static final int PADDING_TO_END = 32;
    private static final int TIME_SHIFT = 27;
    private static final int DELTA_MASK = (1 << TIME_SHIFT) - 1;

    /** An absolute stamp has 59 bits; these of the running time stay (TS_MSB). */
    private static final long STAMP_HIGH_BITS = 0xf8L << 56;

    private final int cpu;
    private final int pageBytes;
    private final int dataOffset;
    private final int commitBytes;
    private final boolean swapped;
    private final boolean bigEndian;
    private final boolean old;
    private final @Nullable TimeMap times;
    private final int[] indexOfKernelId;
    private final int[] fixedBytes;
    private final int pidOffset;

    private MemorySegment memory = MemorySegment.NULL;
    private long nextPage;
    private long limit;
    private long at;
    private long dataEnd;
    private long time;

    /**
     * A reader that has no pages yet.
     *
     * @param cpu number for the rows
     * @param pageBytes size of a sub-buffer
     */
    public PageReader(FtraceTypeTable table, int cpu, int pageBytes) {
        this(table, cpu, pageBytes, TimeMap.SAME);
    }

    /** As above, with times turned to those of another clock. */
    @SuppressWarnings("ReferenceEquality") // no other map is known to change nothing
    public PageReader(FtraceTypeTable table, int cpu, int pageBytes, TimeMap times) {
        PageLayout layout = table.layout();
        this.cpu = cpu;
        this.pageBytes = pageBytes;
        this.dataOffset = layout.dataOffset();
        this.commitBytes = layout.commitBytes();
        this.swapped = layout.order() != ByteOrder.nativeOrder();
        this.bigEndian = layout.order() == ByteOrder.BIG_ENDIAN;
        this.old = layout.old();
        this.times = times == TimeMap.SAME ? null : times;
        this.indexOfKernelId = table.indexOfKernelId();
        this.fixedBytes = table.fixedBytes();
        this.pidOffset = table.pidOffset();
    }

    /** Time of the last event read, in the clock of the rows. */
    long latest() {
        return mapped(time);
    }

    /** Goes to other pages: {@code sizeBytes} of them at {@code offset}; a torn last one counts. */
    public void reset(MemorySegment pages, long offset, long sizeBytes) {
        memory = pages;
        nextPage = offset;
        limit = offset + sizeBytes;
        at = 0;
        dataEnd = 0;
    }

    /** Adds rows until the batch is full or the pages are read; false when nothing is left. */
    public boolean fill(Batch batch) {
        while (!batch.isFull()) {
            if (at < dataEnd) {
                readEvents(batch);
            } else if (nextPage + dataOffset <= limit) {
                openPage(batch);
            } else {
                return false;
            }
        }
        return true;
    }

    private void openPage(Batch batch) {
        long page = nextPage;
        nextPage += pageBytes;
        long stamp = u64(page);
        int commit = commitBytes == 8 ? (int) u64(page + 8) : u32(page + 8);
        long length = commit & LENGTH_MASK;
        long room = Math.min(limit, page + pageBytes) - (page + dataOffset);
        if (length == 0) {
            return;
        }
        time = stamp;
        at = page + dataOffset;
        dataEnd = at + Math.min(length, room);
        if ((commit & MISSED_EVENTS) != 0) {
            long lost = 0;
            if ((commit & MISSED_STORED) != 0 && length + commitBytes <= room) {
                lost = commitBytes == 8 ? u64(dataEnd) : u32(dataEnd) & 0xffff_ffffL;
            }
            int row = batch.add(mapped(stamp), cpu, -1, FtraceTypeTable.LOST, page, 0);
            batch.sample(row, -1, Math.max(lost, 0), 0, 0);
        }
        if (length > room) {
            // The page was cut, or commit is no length: what stands there may still be events.
            nextPage = page + pageBytes;
            if (!batch.isFull()) {
                batch.add(mapped(stamp), cpu, -1, FtraceTypeTable.CORRUPT, page, 0);
            }
        }
    }

    private void readEvents(Batch batch) {
        long position = at;
        long end = dataEnd;
        long now = time;
        while (position + 4 <= end && !batch.isFull()) {
            int header = u32(position);
            int typeLen = bigEndian ? header >>> TIME_SHIFT : header & 31;
            if (old) {
                typeLen = oldTypeLen(header);
            }
            long delta = bigEndian ? header & DELTA_MASK : header >>> 5;
            if (typeLen > 0 && typeLen < PADDING) {
                now += delta;
                int size = typeLen << 2;
                if (position + 4 + size > end) {
                    position = corrupt(batch, now, position);
                    break;
                }
                add(batch, now, position + 4, size);
                position += 4 + size;
                continue;
            }
            long word = position + 8 <= end ? u32(position + 4) & 0xffff_ffffL : -1;
            if (typeLen == PADDING && delta == 0 || typeLen == PADDING_TO_END) {
                position = end;
            } else if (word < 0) {
                position = corrupt(batch, now, position);
            } else if (typeLen == TIME_EXTEND) {
                now += (word << TIME_SHIFT) + delta;
                position += 8;
            } else if (typeLen == TIME_STAMP) {
                now = (word << TIME_SHIFT) + delta | now & STAMP_HIGH_BITS;
                position += 8;
            } else {
                now += delta;
                // The length counts its own word; a discarded event's likewise.
                long next = position + 4 + (word + 3 & ~3L);
                if (word < 4 || next > end) {
                    position = corrupt(batch, now, position);
                    break;
                }
                if (typeLen == 0) {
                    add(batch, now, position + 8, (int) (next - position - 8));
                }
                position = next;
            }
        }
        if (position + 4 > end) {
            position = end;
        }
        at = position;
        time = now;
    }

    /**
     * The type and length of an event of kernels before 2.6.31 as later ones have it. There is no
     * discarded event, so padding ends the page whatever its delta is.
     */
    private int oldTypeLen(int header) {
        int type = bigEndian ? header >>> 30 : header & 3;
        return switch (type) {
            case 0 -> PADDING_TO_END;
            case 1 -> TIME_EXTEND;
            case 2 -> PADDING_TO_END; // a time stamp, which no kernel wrote
            default -> bigEndian ? header >>> TIME_SHIFT & 7 : header >>> 2 & 7;
        };
    }

    private long mapped(long ringTime) {
        return times == null ? ringTime : times.of(ringTime);
    }

    /** A row for the rest of the page, which is skipped. */
    private long corrupt(Batch batch, long now, long position) {
        int size = (int) (dataEnd - position);
        batch.add(mapped(now), cpu, -1, FtraceTypeTable.CORRUPT, position, size);
        return dataEnd;
    }

    private void add(Batch batch, long ringTime, long payload, int size) {
        long now = times == null ? ringTime : times.of(ringTime);
        if (size < pidOffset + 4) {
            batch.add(now, cpu, -1, FtraceTypeTable.CORRUPT, payload, size);
            return;
        }
        short id = memory.get(U16, payload);
        int index = indexOfKernelId[(swapped ? Short.reverseBytes(id) : id) & 0xffff];
        int tid = u32(payload + pidOffset);
        // Fields in place may be read without a check from here on.
        int type = size >= fixedBytes[index] ? index : FtraceTypeTable.CORRUPT;
        batch.add(now, cpu, tid, type, payload, size);
    }

    private int u32(long offset) {
        int value = memory.get(U32, offset);
        return swapped ? Integer.reverseBytes(value) : value;
    }

    private long u64(long offset) {
        long value = memory.get(U64, offset);
        return swapped ? Long.reverseBytes(value) : value;
    }
}
