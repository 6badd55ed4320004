package sonde.exchange.export;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.event.KernelIdentity;
import sonde.event.Recording;
import sonde.event.Source;
import sonde.recording.GrowableBytes;
import sonde.recording.ftrace.EventFormats;
import sonde.recording.tracedat.TraceDatDescription;
import sonde.recording.tracedat.TraceDatMetadata;
import sonde.recording.tracedat.TraceDatWriter;
import sonde.recording.tracedat.TraceDatWriter.BufferPages;
import sonde.recording.tracedat.TraceDatWriter.CpuPages;
import sonde.recording.tracedat.TraceDatWriter.PageOrigin;

/**
 * trace.dat v7 from any recording. Events of a kernel keep their formats, payloads and numbers;
 * others get formats of their own. The rings of the CPUs are gathered in files beside the target.
 */
final class TraceDatExport implements AutoCloseable {
    private static final int LEAST_PAGE = 4096;
    private static final int MOST_PAGE = 1 << 16;

    private final List<Recording> recordings;
    private final RowSurvey survey;
    private final ExportLosses losses;
    private final FtraceTypes types;
    private final Path folder;
    private final int pageBytes;
    private final ExportBuffer top;
    private final Map<String, ExportBuffer> buffers = new LinkedHashMap<>();

    /** A buffer: its clock and the ring of each CPU. */
    private record ExportBuffer(Clock clock, SortedMap<Integer, CpuSpool> cpus) {}

    /** The ring of a CPU and the file where it is gathered. */
    private record CpuSpool(FileChannel file, RingWriter spool) {}

    private TraceDatExport(
            List<Recording> recordings, Clock clock, Path folder, ExportLosses losses)
            throws IOException {
        this.top = new ExportBuffer(clock, new TreeMap<>());
        buffers.put("", top);
        this.recordings = recordings;
        this.folder = folder;
        this.losses = losses;
        this.survey = RowSurvey.of(recordings);
        this.types = new FtraceTypes(recordings, survey, null, (of, type) -> true, losses);
        this.pageBytes = pageBytes();
        SampledType.listOutputs(recordings, survey, losses);
    }

    /** Writes all rows to a new file. */
    static void write(List<Recording> recordings, ExportRows rows, Path target, ExportLosses losses)
            throws IOException {
        Path parent = target.toAbsolutePath().getParent();
        Path folder = Files.createTempDirectory(parent, ".sonde");
        try (TraceDatExport export = new TraceDatExport(recordings, rows.clock(), folder, losses);
                FileChannel file =
                        FileChannel.open(
                                target,
                                StandardOpenOption.CREATE,
                                StandardOpenOption.WRITE,
                                StandardOpenOption.READ,
                                StandardOpenOption.TRUNCATE_EXISTING)) {
            export.gather(rows);
            export.assemble(file);
        } finally {
            Files.deleteIfExists(folder);
        }
    }

    /** Room for the largest event that there is. */
    private int pageBytes() {
        long most = 0;
        for (Recording recording : recordings) {
            int chain = recording.frames() == null ? 8 : 256;
            for (Source source : recording.sources()) {
                for (EventType type : source.types()) {
                    RowSurvey.Usage usage = survey.usage(source, type);
                    long own = usage.mostBytes + 32L * type.fields().size() + 64;
                    most = Math.max(most, own + (long) chain * usage.mostDepth);
                }
            }
        }
        int page = LEAST_PAGE;
        while (page < MOST_PAGE && page < most + 64) {
            page *= 2;
        }
        return page;
    }

    private void gather(ExportRows rows) throws IOException {
        GrowableBytes payload = new GrowableBytes(1 << 12, types.kernel.order());
        for (ExportRow row = rows.next(); row != null; row = rows.next()) {
            RingWriter ring = ring(row);
            if (row.cpu() != RowSurvey.cpu(row.cpu())) {
                losses.add("CPU of events without one (they are put on CPU 0)");
            }
            if (row.is(EventType.NOTICE, "lost")) {
                ring.lost(row.time(), row.batch.weight(row.row));
                continue;
            }
            FtraceType type = types.of(row);
            if (type == null) {
                losses.add(row.type.qualifiedName());
                continue;
            }
            type.encode(row, payload, losses);
            if (ring.fits(payload.size())) {
                ring.event(row.time(), payload.array(), payload.size());
                if (row.batch.stackDepth(row.row) > 0 && !type.hasChain()) {
                    losses.add("call chain of " + row.type.qualifiedName());
                }
            } else {
                losses.add(row.type.qualifiedName() + " (larger than a sub-buffer)");
            }
        }
    }

    private RingWriter ring(ExportRow row) throws IOException {
        ExportBuffer ring =
                buffers.computeIfAbsent(
                        row.lane.buffer(),
                        added -> new ExportBuffer(row.lane.source().clock(), new TreeMap<>()));
        int number = RowSurvey.cpu(row.cpu());
        CpuSpool cpu = ring.cpus.get(number);
        if (cpu == null) {
            FileChannel file =
                    FileChannel.open(
                            Files.createTempFile(folder, "cpu", ".spool"),
                            StandardOpenOption.READ,
                            StandardOpenOption.WRITE,
                            StandardOpenOption.DELETE_ON_CLOSE);
            EventFormats kernel = types.kernel;
            cpu =
                    new CpuSpool(
                            file,
                            new RingWriter(file, kernel.order(), kernel.longBytes(), pageBytes));
            ring.cpus.put(number, cpu);
        }
        return cpu.spool;
    }

    private void assemble(FileChannel target) throws IOException {
        List<BufferPages> pages = new ArrayList<>();
        for (Map.Entry<String, ExportBuffer> buffer : buffers.entrySet()) {
            List<CpuPages> cpus = new ArrayList<>();
            ExportBuffer ring = buffer.getValue();
            for (Map.Entry<Integer, CpuSpool> cpu : ring.cpus.entrySet()) {
                long size = cpu.getValue().spool.finish();
                cpus.add(new CpuPages(cpu.getKey(), cpu.getValue().file, 0, size));
            }
            String clock = ring.clock.kernelName();
            pages.add(new BufferPages(buffer.getKey(), clock, pageBytes, cpus));
        }
        EventFormats kernel = types.kernel;
        PageOrigin origin = new PageOrigin(kernel.order(), kernel.longBytes(), timeOffset());
        TraceDatWriter.write(target, origin, metadata(), pages, false);
    }

    private long timeOffset() {
        for (Recording recording : recordings) {
            Optional<TraceDatDescription> trace = recording.capability(TraceDatDescription.class);
            if (trace.isPresent()) {
                return trace.get().timeOffset();
            }
        }
        return 0;
    }

    private TraceDatMetadata metadata() {
        SortedMap<String, List<byte[]>> formats = new TreeMap<>(types.formats(true));
        List<byte[]> ftrace = formats.remove("ftrace");
        EventFormats kernel = types.kernel;
        TraceDatMetadata own = null;
        KernelIdentity machine = null;
        for (Recording recording : recordings) {
            own =
                    own != null
                            ? own
                            : recording
                                    .capability(TraceDatDescription.class)
                                    .map(TraceDatDescription::metadata)
                                    .orElse(null);
            machine = recording.hasKernelRecords() ? recording.kernel() : machine;
        }
        String uname =
                own != null
                        ? own.uname()
                        : machine == null
                                ? ""
                                : "Linux %s %s %s"
                                        .formatted(
                                                machine.hostname(),
                                                machine.release(),
                                                machine.architecture());
        int cpus = survey.cpus.isEmpty() ? 1 : survey.cpus.last() + 1;
        boolean page = pageBytes == LEAST_PAGE;
        return new TraceDatMetadata(
                page ? kernel.headerPage() : EventFormats.headerPage(kernel.longBytes(), pageBytes),
                kernel.headerEvent(),
                ftrace == null ? List.of() : ftrace,
                formats,
                kernel.kallsyms(),
                kernel.printk(),
                survey.savedCmdlines(),
                own == null ? cpus : Math.max(cpus, own.cpuCount()),
                own == null || own.cpuStats().isEmpty() ? stats() : own.cpuStats(),
                own == null ? "[" + top.clock.kernelName() + "]" : own.clock(),
                uname,
                own == null ? survey.first ^ survey.rows : own.traceId(),
                own == null ? "sonde" : own.version());
    }

    private List<byte[]> stats() {
        List<byte[]> stats = new ArrayList<>();
        top.cpus.forEach((number, cpu) ->
                stats.add(cpu.spool.stats(number).getBytes(StandardCharsets.US_ASCII)));
        return stats;
    }

    @Override
    public void close() throws IOException {
        for (ExportBuffer ring : buffers.values()) {
            for (CpuSpool cpu : ring.cpus.values()) {
                cpu.file.close();
            }
        }
    }
}
