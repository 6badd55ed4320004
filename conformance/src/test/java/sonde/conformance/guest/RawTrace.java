package sonde.conformance.guest;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.Clock;
import sonde.event.Source;
import sonde.recording.ftrace.EventFormat;
import sonde.recording.ftrace.FtraceTypeTable;
import sonde.recording.ftrace.PageLane;
import sonde.recording.ftrace.PageLane.PageRuns;
import sonde.recording.ftrace.PageLane.RingSource;
import sonde.recording.ftrace.PageLayout;
import sonde.recording.ftrace.TimeMap;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.MachineFacts;

/** Reads what lies in a stopped tracefs buffer through our page reader. */
final class RawTrace {
    static final Path TRACEFS = Path.of("/sys/kernel/tracing");

    private final Path buffer;
    private final FtraceTypeTable table;
    private final Source source;

    /**
     * Takes the formats of the events.
     *
     * @param buffer the tracefs folder or an instance's
     * @param events {@code "ftrace/funcgraph_entry"}, of one system
     */
    RawTrace(Path buffer, String system, List<String> events) throws IOException {
        this.buffer = buffer;
        var formats = new java.util.ArrayList<EventFormat>();
        for (String event : events) {
            Path file = TRACEFS.resolve("events/" + system + "/" + event + "/format");
            formats.add(EventFormat.parse(Files.readString(file), Long.BYTES));
        }
        table = FtraceTypeTable.of(Map.of(system, formats), PageLayout.NATIVE);
        source = new Source("trace_pipe_raw", Clock.LOCAL, table.types());
    }

    Source source() {
        return source;
    }

    /** Hands every row of every CPU to the consumer. */
    void forEach(ObjIntConsumer<Batch> rows) throws IOException {
        for (int cpu : MachineFacts.onlineCpus().stream().toArray()) {
            Iterator<MemorySegment> runs = List.of(MemorySegment.ofArray(pages(cpu))).iterator();
            PageRuns pages = () -> runs.hasNext() ? runs.next() : null;
            RingSource ring = new RingSource("", cpu, MachineFacts.pageBytes(), TimeMap.SAME, 0);
            try (PageLane lane = new PageLane(source, ring, table, pages)) {
                @Nullable Batch batch = lane.next();
                while (batch != null) {
                    for (int row = 0; row < batch.size(); row++) {
                        rows.accept(batch, row);
                    }
                    batch = lane.next();
                }
            }
        }
    }

    private byte[] pages(int cpu) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        String path = buffer + "/per_cpu/cpu" + cpu + "/trace_pipe_raw";
        int flags = FileCalls.O_RDONLY | FileCalls.O_NONBLOCK;
        int fd = FileCalls.open(path, flags);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment page = arena.allocate(MachineFacts.pageBytes(), 8);
            while (Fd.read(fd, page) > 0) {
                all.writeBytes(page.toArray(ValueLayout.JAVA_BYTE));
            }
        } finally {
            Fd.close(fd);
        }
        return all.toByteArray();
    }

    /** Writes a file of tracefs below the buffer. */
    void write(String file, String value) throws IOException {
        Files.writeString(buffer.resolve(file), value);
    }
}
