package sonde.probe.perf;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.Map;
import sonde.format.perfdata.PerfEvent;
import sonde.sys.Fd;
import sonde.sys.Machine;
import sonde.sys.Pages;
import sonde.sys.SyscallException;

/**
 * The ring of one CPU that keeps the newest records: its events have write_backward set and it is
 * mapped without PROT_WRITE, which makes it overwrite (kernel/events/ring_buffer.c,
 * ring_buffer_init). The kernel writes from the end to the start, so that data_head, which counts
 * down from 0, always points to the newest record, and what is cut is the oldest one.
 */
final class FlightRing implements AutoCloseable {
    /** _IOW('$', 9, __u32). */
    private static final int PERF_EVENT_IOC_PAUSE_OUTPUT = 0x40042409;

    /** Offset of data_head in struct perf_event_mmap_page. */
    private static final long HEAD = 1024;

    private static final VarHandle U64 = JAVA_LONG.varHandle();

    private final int fd;
    private final MemorySegment mapping;
    private final MemorySegment data;
    private boolean closed;

    /**
     * What a ring kept.
     *
     * @param records oldest first
     * @param wrapped whether older ones were overwritten
     * @param oldestNanos time of the first record, 0 without one
     */
    record Kept(MemorySegment records, boolean wrapped, long oldestNanos) {}

    private FlightRing(int fd, MemorySegment mapping) {
        this.fd = fd;
        this.mapping = mapping;
        this.data = mapping.asSlice(Machine.pageBytes());
    }

    /**
     * Maps the ring of an event with write_backward.
     *
     * @param dataBytes a power of two of pages
     */
    static FlightRing map(int fd, long dataBytes) throws SyscallException {
        long sizeBytes = dataBytes + Machine.pageBytes();
        return new FlightRing(fd, Pages.map(fd, 0, sizeBytes, Pages.PROT_READ, Pages.MAP_SHARED));
    }

    /** The descriptor to redirect others to. */
    int fd() {
        return fd;
    }

    /**
     * Stops the kernel's writing for good and copies what is there.
     *
     * @param counts is told how many records of each event, by its id
     */
    Kept take(Arena arena, Map<Long, Long> counts) throws SyscallException {
        Fd.ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
        long head = (long) U64.getAcquire(mapping, HEAD);
        return take(data, head, arena, counts);
    }

    /** {@link #take(Arena, Map)} of these data pages. */
    static Kept take(MemorySegment data, long head, Arena arena, Map<Long, Long> counts) {
        long size = data.byteSize();
        boolean wrapped = -head > size;
        long there = wrapped ? size : -head;
        MemorySegment copy = arena.allocate(Math.max(there, 8), 8);
        long at = 0;
        long oldest = 0;
        while (at + PerfEvent.HEADER_BYTES <= there) {
            long header = data.get(JAVA_LONG_UNALIGNED, (head + at) & (size - 1));
            int recordBytes = (int) (header >>> 48);
            // The last one is cut, or what is left of it reads as nonsense.
            if (recordBytes < PerfEvent.HEADER_BYTES
                    || (recordBytes & 7) != 0
                    || at + recordBytes > there) {
                break;
            }
            at += recordBytes;
            MemorySegment record = copy.asSlice(there - at, recordBytes);
            copy(data, (head + at - recordBytes) & (size - 1), record);
            oldest = look((int) header, record, counts);
        }
        return new Kept(copy.asSlice(there - at, at), wrapped, oldest);
    }

    private static void copy(MemorySegment data, long from, MemorySegment to) {
        long first = Math.min(to.byteSize(), data.byteSize() - from);
        MemorySegment.copy(data, from, to, 0, first);
        MemorySegment.copy(data, 0, to, first, to.byteSize() - first);
    }

    /**
     * Counts the record and returns its time. A sample begins with its identifier and has, with
     * this recorder's sample_type, its time behind ip and tid; others end with sample_id.
     */
    private static long look(int type, MemorySegment record, Map<Long, Long> counts) {
        long end = record.byteSize();
        boolean sample = type == PerfEvent.PERF_RECORD_SAMPLE;
        if (end < 40) {
            return 0;
        }
        counts.merge(record.get(JAVA_LONG_UNALIGNED, sample ? 8 : end - 8), 1L, Long::sum);
        return record.get(JAVA_LONG_UNALIGNED, sample ? 32 : end - 24);
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            try {
                Pages.unmap(mapping);
            } catch (SyscallException e) {
                throw new IllegalStateException("own mapping", e);
            }
        }
    }
}
