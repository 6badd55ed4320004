package sonde.exchange.export;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.util.Arrays;

/**
 * Writes the ring of one CPU: sub-buffers as the kernel has them (include/linux/ring_buffer.h),
 * events in their order of time.
 */
final class RingWriter {
    // kernel/trace/ring_buffer.c RB_MISSED_EVENTS, RB_MISSED_STORED
    private static final long MISSED_EVENTS = 1L << 31;
    private static final long MISSED_STORED = 1L << 30;

    // enum ring_buffer_type
    private static final int PADDING = 29;
    private static final int TIME_EXTEND = 30;
    private static final int LONGEST_WORDS = 28;
    private static final int DELTA_BITS = 27;

    /** Bits of a delta with a time extend. */
    private static final int EXTENDED_BITS = 59;

    /** Bytes that an event takes at most besides its payload: extend, header, length. */
    static final int EVENT_BYTES = 16;

    private final FileChannel spool;
    private final int longBytes;
    private final boolean bigEndian;
    private final ByteBuffer page;
    private final int dataOffset;
    private long stamp;
    private long last;
    private boolean open;
    private boolean missed;
    private long missedCount;
    private long entries;
    private long overrun;

    /**
     * A ring without events.
     *
     * @param spool empty; sub-buffers are added at its end
     */
    RingWriter(FileChannel spool, ByteOrder order, int longBytes, int pageBytes) {
        this.spool = spool;
        this.longBytes = longBytes;
        this.bigEndian = order == ByteOrder.BIG_ENDIAN;
        this.page = ByteBuffer.allocate(pageBytes).order(order);
        this.dataOffset = 8 + longBytes;
    }

    /** Whether an event of that size fits a sub-buffer. */
    boolean fits(int size) {
        return (size + 3 & ~3) + EVENT_BYTES + longBytes <= page.capacity() - dataOffset;
    }

    /** Adds an event that fits. */
    void event(long time, byte[] payload, int size) throws IOException {
        int padded = size + 3 & ~3;
        int wanted = padded + EVENT_BYTES + (missed ? longBytes : 0);
        if (open && (time - last >>> EXTENDED_BITS != 0 || page.remaining() < wanted)) {
            flush();
        }
        begin(time);
        long delta = time - last;
        last = time;
        if (delta >>> DELTA_BITS != 0) {
            header(TIME_EXTEND, delta & (1L << DELTA_BITS) - 1);
            page.putInt((int) (delta >>> DELTA_BITS));
            delta = 0;
        }
        int words = padded / 4;
        if (words > 0 && words <= LONGEST_WORDS) {
            header(words, delta);
        } else {
            header(0, delta);
            page.putInt(padded + 4);
        }
        page.put(payload, 0, size);
        page.put(new byte[padded - size]);
        entries++;
    }

    /**
     * Events were lost before this time.
     *
     * @param count 0 when unknown
     */
    void lost(long time, long count) throws IOException {
        if (open && page.position() > dataOffset) {
            flush();
        }
        begin(time);
        missed = true;
        missedCount += Math.max(0, count);
        overrun += Math.max(0, count);
    }

    private void begin(long time) {
        if (!open) {
            page.clear().position(dataOffset);
            stamp = time;
            last = time;
            open = true;
        }
    }

    private void header(int typeLen, long delta) {
        page.putInt(bigEndian ? typeLen << DELTA_BITS | (int) delta : typeLen | (int) delta << 5);
    }

    private void flush() throws IOException {
        if (missed && page.position() == dataOffset) {
            // A discarded event: an empty page would say nothing.
            header(PADDING, 1);
            page.putInt(4);
        }
        int end = page.position();
        long commit = (long) end - dataOffset;
        if (missed) {
            commit |= MISSED_EVENTS;
            if (missedCount > 0 && page.remaining() >= longBytes) {
                commit |= MISSED_STORED;
                word(end, longBytes == 4 ? Math.min(missedCount, 0xffff_ffffL) : missedCount);
                end += longBytes;
            }
        }
        page.putLong(0, stamp);
        word(8, commit);
        Arrays.fill(page.array(), end, page.capacity(), (byte) 0);
        page.clear();
        while (page.hasRemaining()) {
            spool.write(page);
        }
        open = false;
        missed = false;
        missedCount = 0;
    }

    private void word(int at, long value) {
        if (longBytes == 8) {
            page.putLong(at, value);
        } else {
            page.putInt(at, (int) value);
        }
    }

    /** Writes what was gathered; the size of the spool. */
    long finish() throws IOException {
        if (open) {
            flush();
        }
        return spool.position();
    }

    /** As tracefs says it in {@code per_cpu/cpuN/stats}. */
    String stats(int cpu) {
        return ("CPU: %d\nentries: 0\noverrun: %d\ncommit overrun: 0\nbytes: 0\n"
                        + "dropped events: 0\nread events: %d\n")
                .formatted(cpu, overrun, entries);
    }
}
