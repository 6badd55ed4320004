package sonde.probe.perf;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.recording.perfdata.PerfAbi;
import sonde.sys.Clocks;
import sonde.sys.Fd;
import sonde.sys.MachineFacts;
import sonde.sys.MemoryMappings;
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

    private final int cpu;
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
    record KeptRecords(MemorySegment records, boolean wrapped, long oldestNanos) {}

    private FlightRing(int cpu, int fd, MemorySegment mapping) {
        this.cpu = cpu;
        this.fd = fd;
        this.mapping = mapping;
        this.data = mapping.asSlice(MachineFacts.pageBytes());
    }

    /**
     * Maps the ring of an event with write_backward.
     *
     * @param dataBytes a power of two of pages
     */
    static FlightRing map(int cpu, int fd, long dataBytes) throws SyscallException {
        long sizeBytes = dataBytes + MachineFacts.pageBytes();
        MemorySegment mapping =
                MemoryMappings.map(
                        fd, 0, sizeBytes, MemoryMappings.PROT_READ, MemoryMappings.MAP_SHARED);
        return new FlightRing(cpu, fd, mapping);
    }

    /** The CPU whose events come here. */
    int cpu() {
        return cpu;
    }

    /** The descriptor to redirect others to. */
    int fd() {
        return fd;
    }

    /**
     * Stops the kernel's writing for good and copies what is there.
     *
     * @param stacks takes out the copies of stacks that nobody asked for
     * @param counts is told how many records of each event, by its id
     */
    KeptRecords take(
            Arena arena, Map<Long, Long> counts, SampleOwners owners, @Nullable CopiedStacks stacks)
            throws SyscallException {
        Fd.ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
        long head = (long) U64.getAcquire(mapping, HEAD);
        KeptRecords kept = take(data, head, arena);
        owners.mend(kept.records(), cpu, 0, Clocks.nanos(Clocks.CLOCK_MONOTONIC));
        count(kept.records(), counts);
        return stacks == null
                ? kept
                : new KeptRecords(stacks.strip(kept.records()), kept.wrapped(), kept.oldestNanos());
    }

    /** Copies the records of these data pages, oldest first. */
    static KeptRecords take(MemorySegment data, long head, Arena arena) {
        long size = data.byteSize();
        boolean wrapped = -head > size;
        long there = wrapped ? size : -head;
        MemorySegment copy = arena.allocate(Math.max(there, 8), 8);
        long at = 0;
        long oldest = 0;
        while (at + PerfAbi.HEADER_BYTES <= there) {
            long header = data.get(JAVA_LONG_UNALIGNED, (head + at) & (size - 1));
            int recordBytes = (int) (header >>> 48);
            // The last one is cut, or what is left of it reads as nonsense.
            if (recordBytes < PerfAbi.HEADER_BYTES
                    || (recordBytes & 7) != 0
                    || at + recordBytes > there) {
                break;
            }
            at += recordBytes;
            MemorySegment record = copy.asSlice(there - at, recordBytes);
            copy(data, (head + at - recordBytes) & (size - 1), record);
            oldest = time((int) header, record);
        }
        return new KeptRecords(copy.asSlice(there - at, at), wrapped, oldest);
    }

    private static void copy(MemorySegment data, long from, MemorySegment to) {
        long first = Math.min(to.byteSize(), data.byteSize() - from);
        MemorySegment.copy(data, from, to, 0, first);
        MemorySegment.copy(data, 0, to, first, to.byteSize() - first);
    }

    /**
     * A sample has, with this recorder's sample_type, its time behind identifier, ip and tid;
     * others end with sample_id: tid, time, cpu, identifier.
     */
    private static long time(int type, MemorySegment record) {
        long end = record.byteSize();
        boolean sample = type == PerfAbi.PERF_RECORD_SAMPLE;
        return end < 40 ? 0 : record.get(JAVA_LONG_UNALIGNED, sample ? 32 : end - 24);
    }

    private static void count(MemorySegment records, Map<Long, Long> counts) {
        long at = 0;
        while (at < records.byteSize()) {
            long header = records.get(JAVA_LONG_UNALIGNED, at);
            boolean sample = (int) header == PerfAbi.PERF_RECORD_SAMPLE;
            long size = header >>> 48;
            if (size >= 40) {
                long identifier = at + (sample ? 8 : size - 8);
                counts.merge(records.get(JAVA_LONG_UNALIGNED, identifier), 1L, Long::sum);
            }
            at += size;
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            try {
                MemoryMappings.unmap(mapping);
            } catch (SyscallException e) {
                throw new IllegalStateException("own mapping", e);
            }
        }
    }
}
