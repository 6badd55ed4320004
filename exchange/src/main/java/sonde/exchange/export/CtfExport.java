package sonde.exchange.export;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import sonde.event.EventType;
import sonde.event.Recording;
import sonde.event.Source;
import sonde.recording.tracedat.TraceDatDescription;

/**
 * A CTF trace, version 2 or 1.8: a folder with {@code metadata} and a data stream for each CPU of
 * each buffer. Rows are packed to bytes, little-endian; threads and processes are the common
 * context, weights and call chains members of the payload, losses the counters of packets.
 */
final class CtfExport {
    private static final int PACKET_BYTES = 1 << 16;

    // Packets wait in memory, one for each stream.
    private static final int MANY_STREAMS = 256;
    private static final int SHORT_PACKET_BYTES = 1 << 12;

    private final Path folder;
    private final ExportLosses losses;
    private final CtfTrace trace;
    private final int packetBytes;
    private final Map<Source, @Nullable CtfType[]> bySource = new IdentityHashMap<>();
    private final Map<StreamKey, CtfStream> streams = new LinkedHashMap<>();

    /** What has a stream of its own. */
    private record StreamKey(String buffer, int cpu) {}

    private CtfExport(
            List<Recording> recordings,
            ExportRows rows,
            Path folder,
            boolean plain,
            ExportLosses losses)
            throws IOException {
        this.folder = folder;
        this.losses = losses;
        RowSurvey survey = RowSurvey.of(recordings);
        packetBytes = survey.cpus.size() > MANY_STREAMS ? SHORT_PACKET_BYTES : PACKET_BYTES;
        byte[] seed =
                ByteBuffer.allocate(24)
                        .putLong(survey.first)
                        .putLong(survey.last)
                        .putLong(survey.rows)
                        .array();
        int most =
                recordings.stream()
                        .flatMap(recording -> recording.sources().stream())
                        .mapToInt(source -> source.types().size())
                        .sum();
        trace = new CtfTrace(UUID.nameUUIDFromBytes(seed), rows.clock(), most > 0xffff);
        environment(recordings, trace.environment);
        SampledType.listOutputs(recordings, survey, losses);
        for (Recording recording : recordings) {
            for (Source source : recording.sources()) {
                @Nullable CtfType[] types = new CtfType[source.types().size()];
                for (EventType type : source.types()) {
                    RowSurvey.Usage usage = survey.usage(source, type);
                    if (usage.rows > 0 && !type.system().equals(EventType.NOTICE)) {
                        boolean named = recording.frames() != null;
                        int id = trace.types.size();
                        CtfType made = new CtfType(id, type, usage, named, plain);
                        trace.types.add(made);
                        types[type.id()] = made;
                    }
                }
                bySource.put(source, types);
            }
        }
    }

    /** Writes all rows into an empty folder. */
    static void write(
            List<Recording> recordings,
            ExportRows rows,
            Path folder,
            boolean version2,
            ExportLosses losses)
            throws IOException {
        CtfExport export = new CtfExport(recordings, rows, folder, !version2, losses);
        export.streams(rows);
        String metadata =
                version2 ? CtfJsonMetadata.of(export.trace) : CtfTextMetadata.of(export.trace);
        Files.writeString(folder.resolve("metadata"), metadata, StandardCharsets.UTF_8);
    }

    private static void environment(List<Recording> recordings, Map<String, String> out) {
        out.put("tracer_name", "sonde");
        for (Recording recording : recordings) {
            recording
                    .capability(TraceDatDescription.class)
                    .map(from -> from.metadata().uname().strip())
                    .filter(uname -> !uname.isEmpty())
                    .ifPresent(uname -> out.putIfAbsent("uname", uname));
            if (recording.hasKernelRecords()) {
                out.putIfAbsent("hostname", recording.kernel().hostname());
                out.putIfAbsent("kernel_release", recording.kernel().release());
            }
        }
    }

    private void streams(ExportRows rows) throws IOException {
        if (!rows.clock().isNanos()) {
            losses.add("unit of the clock (times are written as nanoseconds)");
        }
        for (ExportRow row = rows.next(); row != null; row = rows.next()) {
            @Nullable CtfType[] types = bySource.get(row.batch.source());
            CtfType type = types == null ? null : types[row.type.id()];
            if (type != null) {
                stream(row).event(row, type);
            } else if (row.is(EventType.NOTICE, "lost")) {
                stream(row).lost(row.time(), row.batch.weight(row.row));
            } else {
                losses.add(row.type.qualifiedName());
            }
        }
        for (CtfStream stream : streams.values()) {
            stream.flush();
        }
    }

    private CtfStream stream(ExportRow row) {
        int cpu = row.cpu() > RowSurvey.MOST_CPU ? -1 : Math.max(-1, row.cpu());
        StreamKey key = new StreamKey(row.lane.buffer(), cpu);
        CtfStream stream = streams.get(key);
        if (stream == null) {
            String name = key.buffer.isEmpty() ? "channel" : FieldValues.identifier(key.buffer);
            Path file = folder.resolve(name + "_" + (cpu < 0 ? "none" : Integer.toString(cpu)));
            // Buffers whose names differ in odd characters only would share it.
            boolean taken = streams.values().stream().anyMatch(other -> other.isIn(file));
            Path own = taken ? folder.resolve(file.getFileName() + "_" + streams.size()) : file;
            stream = new CtfStream(own, trace, streams.size(), cpu, packetBytes);
            streams.put(key, stream);
        }
        return stream;
    }
}
