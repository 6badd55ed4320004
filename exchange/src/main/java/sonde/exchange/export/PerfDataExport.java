package sonde.exchange.export;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.event.KernelIdentity;
import sonde.event.Recording;
import sonde.event.Source;
import sonde.recording.GrowableBytes;
import sonde.recording.ftrace.EventFormats;
import sonde.recording.perfdata.AttrEntry;
import sonde.recording.perfdata.PerfAbi;
import sonde.recording.perfdata.PerfAttr;
import sonde.recording.perfdata.PerfDataWriter;
import sonde.recording.perfdata.PerfDescription;
import sonde.recording.perfdata.PerfFeatures;
import sonde.recording.perfdata.PerfRecords;
import sonde.recording.perfdata.PerfRecords.SampleId;
import sonde.recording.perfdata.RecordedFeatures;
import sonde.recording.perfdata.TracingData;
import sonde.recording.perfdata.TracingData.TracingFormat;
import sonde.recording.tracedat.TraceDatDescription;
import sonde.sys.Fd;
import sonde.sys.FileCalls;

/**
 * perf.data from any recording: samples of counters stay samples, every other event becomes a
 * tracepoint's with its payload as PERF_SAMPLE_RAW, records of perf stay records. Little-endian,
 * sorted by time, in rounds.
 */
final class PerfDataExport {
    /** Records between marks of a round: what perf sorts at once. */
    private static final int ROUND = 1 << 16;

    /** Features that say the same of any file of that machine, written as they lie. */
    private static final List<Integer> COPIED =
            List.of(
                    PerfFeatures.HEADER_CPUDESC,
                    PerfFeatures.HEADER_CPUID,
                    PerfFeatures.HEADER_TOTAL_MEM,
                    PerfFeatures.HEADER_CPU_TOPOLOGY,
                    PerfFeatures.HEADER_NUMA_TOPOLOGY,
                    PerfFeatures.HEADER_BRANCH_STACK,
                    PerfFeatures.HEADER_PMU_MAPPINGS,
                    PerfFeatures.HEADER_CACHE,
                    PerfFeatures.HEADER_MEM_TOPOLOGY,
                    PerfFeatures.HEADER_BPF_PROG_INFO,
                    PerfFeatures.HEADER_BPF_BTF,
                    PerfFeatures.HEADER_CPU_PMU_CAPS,
                    PerfFeatures.HEADER_HYBRID_TOPOLOGY,
                    PerfFeatures.HEADER_PMU_CAPS);

    /** Features whose content does not outlive the form of the file. */
    private static final List<Integer> FORM =
            List.of(
                    PerfFeatures.HEADER_TRACING_DATA,
                    PerfFeatures.HEADER_BUILD_ID,
                    PerfFeatures.HEADER_HOSTNAME,
                    PerfFeatures.HEADER_OSRELEASE,
                    PerfFeatures.HEADER_VERSION,
                    PerfFeatures.HEADER_ARCH,
                    PerfFeatures.HEADER_NRCPUS,
                    PerfFeatures.HEADER_CMDLINE,
                    PerfFeatures.HEADER_EVENT_DESC,
                    PerfFeatures.HEADER_SAMPLE_TIME,
                    PerfFeatures.HEADER_CLOCKID,
                    PerfFeatures.HEADER_CLOCK_DATA,
                    PerfFeatures.HEADER_DIR_FORMAT,
                    PerfFeatures.HEADER_COMPRESSED);

    private final List<Recording> recordings;
    private final ExportLosses losses;
    private final RowSurvey survey;
    private final FtraceTypes types;
    private final Map<Source, @Nullable SampledType[]> bySource = new IdentityHashMap<>();
    private final List<AttrEntry> attrs = new ArrayList<>();
    private final PerfRecords records;
    private final GrowableBytes payload = new GrowableBytes(1 << 12, ByteOrder.nativeOrder());
    private final Set<Long> taken = new HashSet<>();
    private final Set<Long> used = new HashSet<>();
    private final long dummyId;
    private long nextId = 1;

    private PerfDataExport(List<Recording> recordings, Clock clock, ExportLosses losses)
            throws IOException {
        this.recordings = recordings;
        this.losses = losses;
        this.survey = RowSurvey.of(recordings);
        this.types =
                new FtraceTypes(
                        recordings,
                        survey,
                        ByteOrder.nativeOrder(),
                        (of, type) -> SampledType.isTracepoint(of, type),
                        losses);
        ExportAttrs make = new ExportAttrs(clock);
        PerfAttr dummy = make.dummy();
        for (Recording recording : recordings) {
            attrs(recording).forEach(attr -> Arrays.stream(attr.ids()).forEach(taken::add));
        }
        dummyId = freshId();
        attrs.add(new AttrEntry(dummy, new long[] {dummyId}, "dummy:HG"));
        records = new PerfRecords(dummy);
        for (Recording recording : recordings) {
            for (Source source : recording.sources()) {
                @Nullable SampledType[] targets = new SampledType[source.types().size()];
                for (EventType type : source.types()) {
                    RowSurvey.Usage usage = survey.usage(source, type);
                    boolean notice = type.system().equals(EventType.NOTICE);
                    // Samples of a group hold values of events that have none themselves.
                    boolean wanted =
                            usage.rows > 0
                                    || recording.hasKernelRecords()
                                            && !SampledType.isTracepoint(recording, type);
                    if (wanted && !notice && !SampledType.isRecord(recording, type)) {
                        long[] ids = ids(recording, type);
                        FtraceType ftrace = types.of(source, type);
                        SampledType target =
                                SampledType.of(recording, type, usage, ftrace, make, ids);
                        attrs.add(target.entry());
                        targets[type.id()] = target;
                    }
                }
                bySource.put(source, targets);
            }
        }
    }

    private static List<AttrEntry> attrs(Recording recording) {
        return recording
                .capability(PerfDescription.class)
                .map(PerfDescription::attrs)
                .orElse(List.of());
    }

    private long freshId() {
        while (!taken.add(nextId)) {
            nextId++;
        }
        return nextId;
    }

    /** Those of a perf.data stay: values of counters in its samples name them. */
    private long[] ids(Recording recording, EventType type) {
        List<Long> own = new ArrayList<>();
        recording
                .capability(PerfDescription.class)
                .map(perf -> perf.entriesOf(type))
                .orElse(List.of())
                .forEach(entry -> Arrays.stream(entry.ids()).filter(used::add).forEach(own::add));
        return own.isEmpty()
                ? new long[] {freshId()}
                : own.stream().mapToLong(Long::longValue).toArray();
    }

    /** Writes all rows to a new file. */
    static void write(List<Recording> recordings, ExportRows rows, Path target, ExportLosses losses)
            throws IOException {
        PerfDataExport export = new PerfDataExport(recordings, rows.clock(), losses);
        int flags = FileCalls.O_RDWR | FileCalls.O_CREAT | FileCalls.O_TRUNC | FileCalls.O_CLOEXEC;
        int fd = FileCalls.open(target.toString(), flags, 0600);
        try (PerfDataWriter writer = PerfDataWriter.create(fd, export.attrs, export.features())) {
            export.names(writer);
            export.rows(rows, writer);
            writer.finish(PerfFeatures.NONE);
        } finally {
            Fd.discard(fd);
        }
    }

    /** Names of threads where no record tells them. */
    private void names(PerfDataWriter writer) throws IOException {
        if (recordings.stream().anyMatch(Recording::hasKernelRecords)) {
            return;
        }
        SampleId start = new SampleId(-1, -1, 0, dummyId, 0);
        for (Map.Entry<Integer, String> one : survey.comms.entrySet()) {
            int tid = one.getKey();
            String comm = one.getValue();
            String cut = comm.length() > 15 ? comm.substring(0, 15) : comm;
            writer.appendSynthetic(records.comm(start, tid, tid, cut, false));
        }
    }

    private void rows(ExportRows rows, PerfDataWriter writer) throws IOException {
        int inRound = 0;
        for (ExportRow row = rows.next(); row != null; row = rows.next()) {
            byte[] record = record(row);
            if (record.length == 0) {
                losses.add(row.type.qualifiedName());
                continue;
            }
            writer.appendSynthetic(record);
            if (++inRound == ROUND) {
                writer.finishedRound();
                inRound = 0;
            }
        }
        writer.finishedRound();
    }

    /** The record of a row; empty when there is none for it. */
    private byte[] record(ExportRow row) {
        @Nullable SampledType[] targets = bySource.get(row.batch.source());
        SampledType target = targets == null ? null : targets[row.type.id()];
        if (target != null) {
            return target.record(row, payload, losses);
        }
        SampleId stamp = new SampleId(row.pid(), row.tid(), row.time(), dummyId, row.cpu());
        if (row.isNotice()) {
            return notice(row, stamp);
        }
        if (!row.recording.hasKernelRecords()) {
            int tid = (int) row.integer("tid", row.tid());
            int pid = (int) row.integer("pid", row.pid() < 0 ? tid : row.pid());
            return records.comm(stamp, pid, tid, SampledType.name(row.text("comm")), false);
        }
        int type = row.batch.u32(row.row, 0);
        int misc = row.batch.u16(row.row, 4);
        boolean kernel = type > 0 && type < PerfAbi.PERF_RECORD_HEADER_ATTR;
        byte[] body = kernel ? SampledType.body(row, misc, payload) : new byte[0];
        return kernel ? records.record(stamp, type, misc, body) : body;
    }

    private byte[] notice(ExportRow row, SampleId stamp) {
        payload.begin(0);
        long weight = row.batch.weight(row.row);
        return switch (row.type.name()) {
            case "lost" -> {
                payload.add(8, dummyId);
                payload.add(8, weight);
                yield records.record(stamp, PerfAbi.PERF_RECORD_LOST, 0, payload.toBytes());
            }
            case "throttle", "unthrottle" -> {
                payload.add(8, row.time());
                payload.add(8, dummyId);
                payload.add(8, dummyId);
                int type =
                        row.type.name().equals("throttle")
                                ? PerfAbi.PERF_RECORD_THROTTLE
                                : PerfAbi.PERF_RECORD_UNTHROTTLE;
                yield records.record(stamp, type, 0, payload.toBytes());
            }
            default -> new byte[0];
        };
    }

    private PerfFeatures features() {
        PerfFeatures.Builder features = PerfFeatures.builder().version("sonde");
        String machine = "";
        for (Recording recording : recordings) {
            recording.capability(PerfDescription.class).ifPresent(from -> copy(from, features));
            recording
                    .capability(TraceDatDescription.class)
                    .map(from -> from.metadata().cpuCount())
                    .ifPresent(cpus -> features.cpus(cpus, cpus));
            KernelIdentity kernel = recording.kernel();
            boolean told = !kernel.release().isEmpty() && machine.isEmpty();
            if (told || recording.hasKernelRecords()) {
                features.hostname(kernel.hostname()).osRelease(kernel.release());
                machine = kernel.architecture();
            }
        }
        if (!machine.isEmpty()) {
            features.arch(machine);
        }
        if (survey.rows > 0) {
            features.sampleTime(survey.first, survey.last);
        }
        List<TracingFormat> formats = new ArrayList<>();
        types.formats(false)
                .forEach((system, texts) ->
                        texts.forEach(text ->
                                formats.add(
                                        new TracingFormat(
                                                system,
                                                new String(text, StandardCharsets.UTF_8)))));
        if (!formats.isEmpty()) {
            features.tracingData(tracing(formats));
        }
        return features.build();
    }

    /** What else a header says; lists what is left out. */
    private void copy(PerfDescription from, PerfFeatures.Builder features) {
        RecordedFeatures of = from.features();
        features.version(of.version()).commandLine(of.commandLine()).buildIds(of.buildIds());
        if (of.cpusAvailable() > 0) {
            features.cpus(of.cpusAvailable(), of.cpusOnline());
        }
        of.clockData()
                .ifPresent(data ->
                        features.clock(
                                data.clockid(),
                                of.clockResolutionNanos().orElse(1),
                                data.wallNanos(),
                                data.clockNanos()));
        boolean sameOrder = from.order() == ByteOrder.LITTLE_ENDIAN;
        for (int feature : from.features().present()) {
            byte[] content =
                    COPIED.contains(feature) && sameOrder
                            ? from.section(feature).orElse(null)
                            : null;
            if (content != null) {
                features.section(feature, content);
            } else if (!FORM.contains(feature)) {
                losses.add("header feature " + feature);
            }
        }
    }

    private TracingData tracing(List<TracingFormat> formats) {
        EventFormats kernel = types.kernel;
        return new TracingData(
                kernel.longBytes(),
                4096,
                text(kernel.headerPage()),
                text(kernel.headerEvent()),
                formats,
                text(kernel.kallsyms()),
                text(kernel.printk()),
                text(survey.savedCmdlines()));
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
