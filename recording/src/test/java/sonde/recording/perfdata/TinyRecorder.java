package sonde.recording.perfdata;

import static sonde.recording.perfdata.PerfAbi.FLAG_BPF_EVENT;
import static sonde.recording.perfdata.PerfAbi.FLAG_COMM;
import static sonde.recording.perfdata.PerfAbi.FLAG_COMM_EXEC;
import static sonde.recording.perfdata.PerfAbi.FLAG_DISABLED;
import static sonde.recording.perfdata.PerfAbi.FLAG_KSYMBOL;
import static sonde.recording.perfdata.PerfAbi.FLAG_MMAP;
import static sonde.recording.perfdata.PerfAbi.FLAG_MMAP2;
import static sonde.recording.perfdata.PerfAbi.FLAG_SAMPLE_ID_ALL;
import static sonde.recording.perfdata.PerfAbi.FLAG_TASK;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_SW_CPU_CLOCK;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_SW_DUMMY;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_CALLCHAIN;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_CPU;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_IDENTIFIER;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_IP;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_PERIOD;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_RAW;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_TID;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_TIME;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import sonde.sys.NativeSyscall;

/** Records a moment of this machine: cpu-clock, sched_switch and dummy on every CPU. */
final class TinyRecorder implements AutoCloseable {
    static final Path TRACEFS = Path.of("/sys/kernel/tracing");
    private static final int PERF_EVENT_OPEN = 298;
    private static final int IOCTL = 16;
    private static final int MMAP = 9;
    private static final int MUNMAP = 11;
    private static final int CLOSE = 3;
    private static final int RING_BYTES = 1 << 20;
    private static final VarHandle U64 = ValueLayout.JAVA_LONG.varHandle();
    private static final long COMMON =
            PERF_SAMPLE_IDENTIFIER
                    | PERF_SAMPLE_IP
                    | PERF_SAMPLE_TID
                    | PERF_SAMPLE_TIME
                    | PERF_SAMPLE_CPU
                    | PERF_SAMPLE_PERIOD;

    private final Arena arena = Arena.ofConfined();
    private final List<Long> descriptors = new ArrayList<>();
    private final List<MemorySegment> rings = new ArrayList<>();
    final PerfAttr dummy;
    final List<AttrEntry> attrs = new ArrayList<>();

    TinyRecorder() throws IOException {
        int switchId = Integer.parseInt(text("events/sched/sched_switch/id").strip());
        long flags = FLAG_DISABLED | FLAG_SAMPLE_ID_ALL;
        PerfAttr clock =
                PerfAttr.software(PERF_COUNT_SW_CPU_CLOCK)
                        .frequency(999)
                        .sampleType(COMMON | PERF_SAMPLE_CALLCHAIN)
                        .flags(flags)
                        .clockid(1)
                        .build();
        PerfAttr switches =
                PerfAttr.tracepoint(switchId)
                        .period(1)
                        .sampleType(COMMON | PERF_SAMPLE_RAW | PERF_SAMPLE_CALLCHAIN)
                        .flags(flags)
                        .clockid(1)
                        .build();
        dummy =
                PerfAttr.software(PERF_COUNT_SW_DUMMY)
                        .period(1)
                        .sampleType(COMMON)
                        .flags(flags | FLAG_MMAP | FLAG_MMAP2 | FLAG_COMM | FLAG_TASK)
                        .flags(FLAG_COMM_EXEC | FLAG_KSYMBOL | FLAG_BPF_EVENT)
                        .watermark(1 << 17)
                        .clockid(1)
                        .build();
        List<PerfAttr> all = List.of(dummy, clock, switches);
        List<String> names = List.of("dummy:HG", "cpu-clock", "sched:sched_switch");
        int cpus = Runtime.getRuntime().availableProcessors();
        long[][] ids = new long[all.size()][cpus];
        for (int cpu = 0; cpu < cpus; cpu++) {
            long output = -1;
            for (int i = 0; i < all.size(); i++) {
                long fd = open(all.get(i), cpu);
                if (output < 0) {
                    output = fd;
                    rings.add(map(fd));
                } else {
                    check(NativeSyscall.syscall(IOCTL, fd, 0x2405, output), "SET_OUTPUT");
                }
                MemorySegment id = arena.allocate(8, 8);
                check(NativeSyscall.syscall(IOCTL, fd, 0x80082407L, id.address()), "ID");
                ids[i][cpu] = id.get(ValueLayout.JAVA_LONG, 0);
            }
        }
        for (int i = 0; i < all.size(); i++) {
            attrs.add(new AttrEntry(all.get(i), ids[i], names.get(i)));
        }
    }

    static String text(String path) throws IOException {
        // In one read: header_page and header_event end after the first, however short.
        try (InputStream in = Files.newInputStream(TRACEFS.resolve(path))) {
            byte[] room = new byte[1 << 16];
            return new String(room, 0, Math.max(0, in.read(room)), StandardCharsets.UTF_8);
        }
    }

    void enable() {
        descriptors.forEach(fd -> check(NativeSyscall.syscall(IOCTL, fd, 0x2400, 0), "ENABLE"));
    }

    void disable() {
        descriptors.forEach(fd -> check(NativeSyscall.syscall(IOCTL, fd, 0x2401, 0), "DISABLE"));
    }

    /** Moves what lies in every ring to the file. */
    void drain(PerfDataWriter writer) throws IOException {
        for (MemorySegment ring : rings) {
            long head = (long) U64.getAcquire(ring, 1024L);
            long tail = ring.get(ValueLayout.JAVA_LONG, 1032);
            long from = tail & (RING_BYTES - 1);
            long count = head - tail;
            MemorySegment data = ring.asSlice(4096);
            if (from + count <= RING_BYTES) {
                writer.append(data.asSlice(from, count));
            } else {
                writer.append(data.asSlice(from), data.asSlice(0, count - (RING_BYTES - from)));
            }
            U64.setRelease(ring, 1032L, head);
        }
        writer.finishedRound();
    }

    private long open(PerfAttr attr, int cpu) {
        MemorySegment bytes = arena.allocateFrom(ValueLayout.JAVA_BYTE, attr.encode());
        long fd = NativeSyscall.syscall(PERF_EVENT_OPEN, bytes.address(), -1, cpu, -1, 8, 0);
        check(fd, "perf_event_open");
        descriptors.add(fd);
        return fd;
    }

    private static MemorySegment map(long fd) {
        long address = NativeSyscall.syscall(MMAP, 0, 4096 + RING_BYTES, 3, 1, fd, 0);
        check(address, "mmap");
        return MemorySegment.ofAddress(address).reinterpret(4096 + RING_BYTES);
    }

    /** An empty file opened for writing; the caller closes it. */
    static int create(Path path) {
        return open(path, 2 | 0100 | 0200); // O_RDWR | O_CREAT | O_EXCL
    }

    /** A file opened for reading and writing; the caller closes it. */
    static int open(Path path) {
        return open(path, 2); // O_RDWR
    }

    private static int open(Path path, int flags) {
        try (Arena names = Arena.ofConfined()) {
            MemorySegment name = names.allocateFrom(path.toString());
            long fd = NativeSyscall.syscall(2, name.address(), flags, 0600);
            check(fd, "open");
            return (int) fd;
        }
    }

    static void closeDescriptor(long fd) {
        check(NativeSyscall.syscall(CLOSE, fd, 0, 0), "close");
    }

    static void check(long result, String what) {
        if (result < 0 && result > -4096) {
            throw new IllegalStateException(what + ": errno " + -result);
        }
    }

    @Override
    public void close() {
        if (ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN) {
            throw new IllegalStateException("numbers here are those of x86-64");
        }
        rings.forEach(ring -> NativeSyscall.syscall(MUNMAP, ring.address(), ring.byteSize(), 0));
        descriptors.forEach(TinyRecorder::closeDescriptor);
        arena.close();
    }
}
