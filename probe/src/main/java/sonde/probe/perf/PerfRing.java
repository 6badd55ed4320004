package sonde.probe.perf;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import sonde.probe.stack.MappingLog;
import sonde.recording.perfdata.PerfAbi;
import sonde.sys.Clocks;
import sonde.sys.MachineFacts;
import sonde.sys.MappedRange;
import sonde.sys.MemoryMappings;
import sonde.sys.SyscallException;

/**
 * The ring of one CPU: a control page (struct perf_event_mmap_page) and a power of two of data
 * pages. One reader.
 */
final class PerfRing implements AutoCloseable {
    /** Offsets of data_head and data_tail in struct perf_event_mmap_page. */
    private static final long HEAD = 1024;

    private static final long TAIL = 1032;
    private static final VarHandle U64 = JAVA_LONG.varHandle();

    private final int cpu;
    private final int fd;
    private final MemorySegment mapping;
    private final MemorySegment data;
    private final long mask;
    private long tail;

    /** The last record that {@link #count} saw. */
    private long last;

    /** A hit of a tracepoint and the program behind it take less, unless somebody stops the CPU. */
    private static final long STACK_NANOS = 200_000;

    /** Up to here {@link #forks} has looked. */
    private long looked;

    private long headNanos;
    private long drainedNanos = Clocks.nanos(Clocks.CLOCK_MONOTONIC);
    private boolean closed;
    private boolean holds;
    private @Nullable UserStackMerge merge;

    /** Takes the bytes of a drain: the second part is empty unless they wrap around. */
    interface Sink {
        void append(MemorySegment first, MemorySegment second) throws IOException;
    }

    /** What a drain saw. */
    static final class Tally {
        final LatestComms comms = new LatestComms();
        final MappedFiles files = new MappedFiles();
        long records;
        long throttled;
        long lost;
        long bytes;
    }

    private PerfRing(int cpu, int fd, MemorySegment mapping) {
        this.cpu = cpu;
        this.fd = fd;
        this.mapping = mapping;
        this.data = mapping.asSlice(MachineFacts.pageBytes());
        this.mask = data.byteSize() - 1;
    }

    /**
     * Maps the ring of an event.
     *
     * @param dataBytes a power of two of pages
     */
    static PerfRing map(int cpu, int fd, long dataBytes) throws SyscallException {
        MemorySegment mapping =
                MemoryMappings.map(
                        fd,
                        0,
                        dataBytes + MachineFacts.pageBytes(),
                        MemoryMappings.PROT_READ | MemoryMappings.PROT_WRITE,
                        MemoryMappings.MAP_SHARED);
        return new PerfRing(cpu, fd, mapping);
    }

    /** The CPU whose events come here. */
    int cpu() {
        return cpu;
    }

    /** The descriptor to poll and to redirect others to. */
    int fd() {
        return fd;
    }

    /**
     * Hands the records up to a head to the sink, then gives their space back, also when the sink
     * fails: they are counted then. The kernel writes them before it moves data_head
     * (kernel/events/ring_buffer.c, perf_output_put_handle).
     *
     * @return whether there was anything
     */
    boolean drain(
            long head, Sink sink, Tally tally, SampleOwners owners, @Nullable CopiedStacks stacks)
            throws IOException {
        if (head == tail && (holds || heldBytes() == 0)) {
            return false;
        }
        boolean foreign = count(tail, head, tally, owners);
        long end = head;
        for (long more = withStackOfLast(end); more > end; more = withStackOfLast(end)) {
            foreign |= count(end, more, tally, owners);
            end = more;
        }
        long size = end - tail;
        tally.bytes += size;
        try {
            long start = tail & mask;
            long first = Math.min(size, data.byteSize() - start);
            MemorySegment begin = data.asSlice(start, first);
            MemorySegment rest = data.asSlice(0, size - first);
            if (merge != null) {
                appendMerged(begin, rest, foreign, sink, owners);
            } else if (foreign || stacks != null) {
                appendChanged(begin, rest, sink, owners, stacks);
            } else {
                sink.append(begin, rest);
            }
        } finally {
            tail = end;
            drainedNanos = headNanos;
            U64.setRelease(mapping, TAIL, tail);
        }
        return true;
    }

    /**
     * The end of the stack of the last record, where it is a sample whose stack is being written:
     * both must come in one drain.
     */
    private long withStackOfLast(long head) {
        UserStackMerge there = merge;
        if (there == null || u32(last) != PerfAbi.PERF_RECORD_SAMPLE) {
            return head;
        }
        if (!there.comesBeforeItsStack(u64(last + PerfAbi.HEADER_BYTES))) {
            return head;
        }
        long sampled = u64(last + UserStackMerge.TIME);
        long end;
        do {
            end = (long) U64.getAcquire(mapping, HEAD);
            if (end == head) {
                Thread.onSpinWait();
            }
        } while (end == head && Clocks.nanos(Clocks.CLOCK_MONOTONIC) - sampled < STACK_NANOS);
        return end;
    }

    private void appendMerged(
            MemorySegment begin,
            MemorySegment rest,
            boolean foreign,
            Sink sink,
            SampleOwners owners)
            throws IOException {
        UserStackMerge there = Objects.requireNonNull(merge);
        long size = begin.byteSize() + rest.byteSize();
        MemorySegment copy = there.more(size);
        MemorySegment.copy(begin, 0, copy, 0, begin.byteSize());
        MemorySegment.copy(rest, 0, copy, begin.byteSize(), rest.byteSize());
        if (foreign) {
            owners.mend(copy, cpu, drainedNanos, Clocks.nanos(Clocks.CLOCK_MONOTONIC));
        }
        if (!holds) {
            sink.append(there.merge(), MemorySegment.NULL);
        }
    }

    /** Whether records that are drained from now on are kept for a later drain. */
    void hold(boolean held) {
        holds = held;
    }

    /** How many bytes of records earlier drains have kept. */
    long heldBytes() {
        return merge == null ? 0 : merge.heldBytes();
    }

    /** Puts user stacks that programs write into this ring into its samples, from now on. */
    void merge(UserStackMerge stacks) {
        merge = stacks;
    }

    /**
     * The kernel lets nobody write to data pages (perf_mmap_fault), so they are changed in a copy.
     */
    private void appendChanged(
            MemorySegment begin,
            MemorySegment rest,
            Sink sink,
            SampleOwners owners,
            @Nullable CopiedStacks stacks)
            throws IOException {
        long now = Clocks.nanos(Clocks.CLOCK_MONOTONIC);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment copy = arena.allocate(begin.byteSize() + rest.byteSize(), 8);
            MemorySegment.copy(begin, 0, copy, 0, begin.byteSize());
            MemorySegment.copy(rest, 0, copy, begin.byteSize(), rest.byteSize());
            owners.mend(copy, cpu, drainedNanos, now);
            sink.append(stacks == null ? copy : stacks.strip(copy), MemorySegment.NULL);
        }
    }

    /** Where the kernel has written up to. */
    long head() {
        headNanos = Clocks.nanos(Clocks.CLOCK_MONOTONIC);
        return (long) U64.getAcquire(mapping, HEAD);
    }

    /** Tells the forks that are in the ring and were not told before. */
    void forks(CopiedStacks stacks) {
        long head = (long) U64.getAcquire(mapping, HEAD);
        long at = Math.max(looked, tail);
        while (at < head) {
            long header = data.get(JAVA_LONG_UNALIGNED, at & mask);
            int size = (int) (header >>> 48);
            if (size < PerfAbi.HEADER_BYTES) {
                return;
            }
            if ((int) header == PerfAbi.PERF_RECORD_FORK) {
                stacks.forked(u32(at + 8), u32(at + 12), u32(at + 16)); // u32 pid, ppid, tid, ptid
            }
            at += size;
        }
        looked = at;
    }

    /** Tells what is in the ring of mappings, and was not told before. */
    void mappings(MappingLog log) {
        long head = (long) U64.getAcquire(mapping, HEAD);
        long at = Math.max(looked, tail);
        while (at < head) {
            long header = data.get(JAVA_LONG_UNALIGNED, at & mask);
            int size = (int) (header >>> 48);
            if (size < PerfAbi.HEADER_BYTES) {
                return;
            }
            int misc = (int) (header >>> 32) & 0xffff;
            switch ((int) header) {
                case PerfAbi.PERF_RECORD_FORK -> {
                    if (u32(at + 8) == u32(at + 16)) { // u32 pid, ppid, tid, ptid: a process
                        log.forked(u32(at + 12), u32(at + 8));
                    }
                }
                case PerfAbi.PERF_RECORD_COMM -> {
                    if ((misc & PerfAbi.PERF_RECORD_MISC_COMM_EXEC) != 0) {
                        log.executed(u32(at + 8));
                    }
                }
                case PerfAbi.PERF_RECORD_MMAP2 -> {
                    if ((misc & PerfAbi.PERF_RECORD_MISC_MMAP_BUILD_ID) == 0) {
                        log.mapped(u32(at + 8), mappedRange(at, size));
                    }
                }
                default -> {} // tells nothing of mappings
            }
            at += size;
        }
        looked = at;
    }

    /** PERF_RECORD_MMAP2: u32 pid, tid; u64 addr, len, pgoff; u32 maj, min; u64 ino, generation. */
    private MappedRange mappedRange(long at, int size) {
        long start = u64(at + 16);
        return new MappedRange(
                start,
                start + u64(at + 24),
                (u32(at + 64) & 4) != 0 ? "r-xp" : "r--p",
                u64(at + 32),
                u32(at + 40),
                u32(at + 44),
                u64(at + 48),
                text(at + 72, size - 72, MappedFiles.MAX_PATH_BYTES));
    }

    private long u64(long position) {
        return data.get(JAVA_LONG_UNALIGNED, position & mask);
    }

    /**
     * One look at each header from a place on: u32 type, u16 misc, u16 size; records are 8-byte
     * aligned.
     */
    private boolean count(long from, long head, Tally tally, SampleOwners owners) {
        boolean foreign = false;
        long at = from;
        while (at < head) {
            long header = data.get(JAVA_LONG_UNALIGNED, at & mask);
            int type = (int) header;
            int size = (int) (header >>> 48);
            foreign = foreign || owners.isForeign(data, mask, at);
            if (type == PerfAbi.PERF_RECORD_THROTTLE) {
                tally.throttled++;
            } else if (type == PerfAbi.PERF_RECORD_LOST) {
                // u64 id, u64 lost after the header.
                tally.lost += data.get(JAVA_LONG_UNALIGNED, (at + 16) & mask);
            } else if (type == PerfAbi.PERF_RECORD_FORK) {
                // u32 pid, ppid, tid, ptid.
                tally.comms.forked(u32(at + 16), u32(at + 20), time(at, size));
            } else if (type == PerfAbi.PERF_RECORD_COMM) {
                // u32 pid, tid, then the name.
                int tid = u32(at + 12);
                long time = time(at, size);
                tally.comms.named(tid, comm(at + 16, size - 16), time);
                if (((int) (header >>> 32) & PerfAbi.PERF_RECORD_MISC_COMM_EXEC) != 0) {
                    tally.comms.executed(tid, time);
                }
            } else if (type == PerfAbi.PERF_RECORD_MMAP2) {
                if (((int) (header >>> 32) & PerfAbi.PERF_RECORD_MISC_MMAP_BUILD_ID) == 0) {
                    tally.files.mapped(time(at, size), u32(at + 8), mappedRange(at, size));
                }
            }
            if (size < PerfAbi.HEADER_BYTES) {
                return foreign;
            }
            tally.records++;
            last = at;
            at += size;
        }
        return foreign;
    }

    /** sample_id ends every record: u32 pid, tid; u64 time; u32 cpu, res; u64 identifier. */
    private long time(long position, int sizeBytes) {
        return data.get(JAVA_LONG_UNALIGNED, (position + sizeBytes - 24) & mask);
    }

    private int u32(long position) {
        return data.get(JAVA_INT_UNALIGNED, position & mask);
    }

    /** A name of at most TASK_COMM_LEN bytes. */
    private String comm(long position, int sizeBytes) {
        return text(position, sizeBytes, 16);
    }

    /** Text up to its NUL; records may wrap around the ring's end. */
    private String text(long position, int sizeBytes, int maxBytes) {
        byte[] name = new byte[Math.clamp(sizeBytes, 0, maxBytes)];
        int length = 0;
        while (length < name.length) {
            byte b = data.get(JAVA_BYTE, (position + length) & mask);
            if (b == 0) {
                break;
            }
            name[length++] = b;
        }
        return new String(name, 0, length, StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            if (merge != null) {
                merge.close();
            }
            try {
                MemoryMappings.unmap(mapping);
            } catch (SyscallException e) {
                throw new IllegalStateException("own mapping", e);
            }
        }
    }
}
