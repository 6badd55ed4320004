package sonde.bpf.ring;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import sonde.binary.MalformedInputException;
import sonde.bpf.BpfMap;
import sonde.sys.Fd;
import sonde.sys.MachineFacts;
import sonde.sys.MemoryMappings;
import sonde.sys.PerfEventOpen;
import sonde.sys.PollSet;
import sonde.sys.SyscallException;

/**
 * Reads what programs write with bpf_perf_event_output (Linux 4.4): a perf ring per CPU behind a
 * {@link sonde.bpf.MapType#PERF_EVENT_ARRAY}. Records of one CPU are in order, those of several are
 * not; what did not fit is counted by the kernel and told per CPU.
 *
 * <p>For one platform thread at a time.
 */
public final class PerfBuffer implements AutoCloseable {
    private static final int ATTR_SIZE = 136;
    private static final int TYPE_SOFTWARE = 1;
    private static final int COUNT_SW_BPF_OUTPUT = 10;
    private static final int SAMPLE_RAW = 1 << 10;
    private static final long WATERMARK = 1 << 14;
    private static final int IOC_ENABLE = 0x2400;

    // struct perf_event_mmap_page.
    private static final long DATA_HEAD = 1024;
    private static final long DATA_TAIL = 1032;

    // enum perf_event_type; struct perf_event_header: u32 type, u16 misc, u16 size.
    private static final int RECORD_LOST = 2;
    private static final int RECORD_SAMPLE = 9;
    private static final int HEADER = 8;
    private static final int LARGEST_RECORD = 1 << 16;

    private static final VarHandle POSITION = JAVA_LONG.varHandle();

    /** Takes records. */
    public interface CpuVisitor {
        /**
         * One record, as {@link RecordVisitor#record}. The kernel pads the data so that it ends 4
         * bytes before a multiple of 8; {@code bytes} includes the padding.
         */
        void record(int cpu, MemorySegment memory, long offset, int bytes);
    }

    private static final class CpuRing {
        private final int cpu;
        private final int fd;
        private final MemorySegment mapping;
        private long lost;

        CpuRing(int cpu, int fd, MemorySegment mapping) {
            this.cpu = cpu;
            this.fd = fd;
            this.mapping = mapping;
        }
    }

    private final Arena arena = Arena.ofShared();
    private final List<CpuRing> rings = new ArrayList<>();
    private final MemorySegment scratch = arena.allocate(LARGEST_RECORD, 8);
    private final long page = MachineFacts.pageBytes();
    private final long size;
    private final PollSet poll;

    private PerfBuffer(BpfMap map, int bytesPerCpu) throws SyscallException {
        size = bytesPerCpu;
        int[] cpus = MachineFacts.onlineCpus().stream().toArray();
        poll = new PollSet(arena, cpus.length);
        try {
            for (int cpu : cpus) {
                rings.add(ring(map, cpu));
            }
        } catch (SyscallException e) {
            close();
            throw e;
        }
    }

    /**
     * Opens a ring on each CPU that is online and puts it into the map.
     *
     * @param bytesPerCpu a power of two of at least a page; the reader is woken when a quarter is
     *     full
     */
    public static PerfBuffer open(BpfMap map, int bytesPerCpu) throws SyscallException {
        if (Integer.bitCount(bytesPerCpu) != 1 || bytesPerCpu < MachineFacts.pageBytes()) {
            throw new IllegalArgumentException("a ring of " + bytesPerCpu + " bytes");
        }
        return new PerfBuffer(map, bytesPerCpu);
    }

    private CpuRing ring(BpfMap map, int cpu) throws SyscallException {
        try (Arena scratchArena = Arena.ofConfined()) {
            MemorySegment attr = scratchArena.allocate(ATTR_SIZE, 8);
            attr.set(JAVA_INT, 0, TYPE_SOFTWARE);
            attr.set(JAVA_INT, 4, ATTR_SIZE);
            attr.set(JAVA_LONG, 8, COUNT_SW_BPF_OUTPUT);
            attr.set(JAVA_LONG, 16, 1);
            attr.set(JAVA_LONG, 24, SAMPLE_RAW);
            attr.set(JAVA_LONG, 40, WATERMARK);
            attr.set(JAVA_INT, 48, (int) (size / 4));
            int fd = PerfEventOpen.open(attr, -1, cpu, -1, 0, "output of programs");
            try {
                MemorySegment mapping =
                        MemoryMappings.map(
                                arena,
                                fd,
                                0,
                                page + size,
                                MemoryMappings.PROT_READ | MemoryMappings.PROT_WRITE,
                                MemoryMappings.MAP_SHARED);
                map.put(cpu, fd);
                Fd.ioctl(fd, IOC_ENABLE, 0);
                poll.add(fd, PollSet.POLLIN);
                return new CpuRing(cpu, fd, mapping);
            } catch (SyscallException e) {
                Fd.discard(fd);
                throw e;
            }
        }
    }

    /**
     * Waits until a ring is a quarter full.
     *
     * @return false after the time, or when a signal came
     */
    public boolean await(long timeoutNanos) throws SyscallException {
        return poll.await(timeoutNanos) > 0;
    }

    /**
     * Hands over everything that has been written, CPU after CPU.
     *
     * @return how many records
     * @throws MalformedInputException when a length cannot be true
     */
    public long drain(CpuVisitor visitor) throws MalformedInputException {
        long count = 0;
        for (CpuRing ring : rings) {
            count += drain(ring, visitor);
        }
        return count;
    }

    /** As {@link #drain(CpuVisitor)}, whatever CPU records are of. */
    public long drain(RecordVisitor visitor) throws MalformedInputException {
        return drain((_, memory, offset, bytes) -> visitor.record(memory, offset, bytes));
    }

    private long drain(CpuRing ring, CpuVisitor visitor) throws MalformedInputException {
        // Acquire: the records up to here are written.
        long head = (long) POSITION.getAcquire(ring.mapping, DATA_HEAD);
        long at = ring.mapping.get(JAVA_LONG, DATA_TAIL);
        long count = 0;
        try {
            while (at < head) {
                long offset = page + (at & size - 1);
                int type = ring.mapping.get(JAVA_INT, offset);
                int bytes = Short.toUnsignedInt(ring.mapping.get(JAVA_SHORT, offset + 6));
                if (bytes < HEADER || bytes > head - at) {
                    throw new MalformedInputException(
                            "perf buffer of CPU " + ring.cpu, "size", at, bytes + " bytes");
                }
                count += record(ring, visitor, type, offset, bytes);
                at += bytes;
            }
        } finally {
            // Release: what was read is read.
            POSITION.setRelease(ring.mapping, DATA_TAIL, at);
        }
        return count;
    }

    /** A record that goes over the ring's end is put together first. */
    private int record(CpuRing ring, CpuVisitor visitor, int type, long offset, int bytes) {
        MemorySegment memory = ring.mapping;
        long start = offset;
        long end = page + size;
        if (offset + bytes > end) {
            long first = end - offset;
            MemorySegment.copy(memory, offset, scratch, 0, first);
            MemorySegment.copy(memory, page, scratch, first, bytes - first);
            memory = scratch;
            start = 0;
        }
        if (type == RECORD_LOST && bytes >= HEADER + 16) {
            // u64 id, u64 lost.
            ring.lost += memory.get(JAVA_LONG, start + HEADER + 8);
        } else if (type == RECORD_SAMPLE && bytes >= HEADER + 4) {
            // PERF_SAMPLE_RAW: u32 size, data.
            int length = memory.get(JAVA_INT, start + HEADER);
            visitor.record(
                    ring.cpu,
                    memory,
                    start + HEADER + 4,
                    Math.clamp(length, 0, bytes - HEADER - 4));
            return 1;
        }
        return 0;
    }

    /** Records of a CPU that found its ring full, as far as the kernel has told; 0 for others. */
    public long lost(int cpu) {
        long lost = 0;
        for (CpuRing ring : rings) {
            lost += ring.cpu == cpu ? ring.lost : 0;
        }
        return lost;
    }

    /** Lost records of all CPUs. */
    public long lost() {
        return rings.stream().mapToLong(ring -> ring.lost).sum();
    }

    /** Closes the rings; the map forgets them. */
    @Override
    public void close() {
        for (CpuRing ring : rings) {
            Fd.discard(ring.fd);
        }
        arena.close();
    }
}
