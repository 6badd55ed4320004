package sonde.probe.names;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.event.Source;
import sonde.recording.names.NamedCall;
import sonde.sys.Fd;
import sonde.sys.MachineFacts;
import sonde.sys.MemoryMappings;
import sonde.sys.PerfEventOpen;
import sonde.sys.SyscallException;

/** A bpf-output event and its ring for each CPU, read once at the end; a test's recorder. */
final class OutputRings implements AutoCloseable {
    private static final int ATTR_SIZE = 136;
    private static final int TYPE_SOFTWARE = 1;
    private static final int BPF_OUTPUT = 10;
    private static final int SAMPLE_RAW = 1024;
    private static final int IOC_ENABLE = 0x2400;
    private static final int HEAD = 1024;
    private static final int RECORD_SAMPLE = 9;

    private final Map<Integer, Integer> fds = new HashMap<>();
    private final List<MemorySegment> rings = new ArrayList<>();

    /**
     * Opens and enables.
     *
     * @param pages of each ring, a power of two
     */
    OutputRings(int pages) throws IOException {
        for (int cpu : MachineFacts.onlineCpus().stream().toArray()) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment attr = arena.allocate(ATTR_SIZE, 8);
                attr.set(JAVA_INT, 0, TYPE_SOFTWARE);
                attr.set(JAVA_INT, 4, ATTR_SIZE);
                attr.set(JAVA_LONG, 8, BPF_OUTPUT);
                attr.set(JAVA_LONG, 16, 1);
                attr.set(JAVA_LONG, 24, SAMPLE_RAW);
                attr.set(JAVA_LONG, 40, 1);
                int fd = PerfEventOpen.open(attr, -1, cpu, -1, 0, "bpf-output");
                fds.put(cpu, fd);
                long size = (1L + pages) * MachineFacts.pageBytes();
                rings.add(
                        MemoryMappings.map(
                                fd,
                                0,
                                size,
                                MemoryMappings.PROT_READ | MemoryMappings.PROT_WRITE,
                                MemoryMappings.MAP_SHARED));
                Fd.ioctl(fd, IOC_ENABLE, 0);
            }
        }
    }

    int fd(int cpu) {
        return fds.getOrDefault(cpu, -1);
    }

    /** Everything in the rings; they must not have wrapped. */
    List<NamedCall> calls() {
        List<NamedCall> calls = new ArrayList<>();
        Source source =
                new Source(
                        "rings",
                        Clock.MONO,
                        List.of(new EventType(0, "bpf", "names", List.of(), "")));
        for (MemorySegment ring : rings) {
            long head = (long) JAVA_LONG.varHandle().getAcquire(ring, (long) HEAD);
            MemorySegment data = ring.asSlice(MachineFacts.pageBytes());
            for (long at = 0; at < head; ) {
                int size = data.get(ValueLayout.JAVA_SHORT, at + 6) & 0xffff;
                if (data.get(JAVA_INT, at) == RECORD_SAMPLE) {
                    Batch batch = new Batch(source, ByteOrder.nativeOrder());
                    batch.reset(data);
                    batch.add(0, 0, -1, 0, at + 12, data.get(JAVA_INT, at + 8));
                    @Nullable NamedCall call = NamedCall.of(batch, 0);
                    if (call == null) {
                        throw new AssertionError("a sample that is not a record");
                    }
                    calls.add(call);
                }
                at += size;
            }
        }
        return calls;
    }

    @Override
    public void close() throws SyscallException {
        for (MemorySegment ring : rings) {
            MemoryMappings.unmap(ring);
        }
        for (int fd : fds.values()) {
            Fd.close(fd);
        }
    }
}
