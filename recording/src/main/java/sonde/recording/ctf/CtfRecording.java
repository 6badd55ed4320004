package sonde.recording.ctf;

import java.io.IOException;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.event.Batch;
import sonde.event.Clock;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.event.Source;
import sonde.recording.InputSet;
import sonde.recording.ctf.DecodePlan.StreamPlan;
import sonde.recording.ctf.schema.ClockClass;
import sonde.recording.ctf.schema.FieldRole;
import sonde.recording.ctf.schema.TraceClass;
import sonde.recording.ftrace.ListingRequest;
import sonde.recording.ftrace.ListingStyle;
import sonde.recording.ftrace.RowText;
import sonde.recording.ftrace.ThreadNames;

/**
 * CTF traces that are read: CTF 1.8 or 2, one or a tree of them. A folder with a file {@code
 * metadata} is a trace, every other file in it a data stream; an LTTng session has several.
 *
 * <p>Each trace is a source. Its event types are the event classes of all its streams, with the
 * part of their name before the first colon as system ({@code lttng_ust_statedump:start}), or else
 * the trace's domain ({@code kernel}), or else {@code ctf}; then {@code notice:lost} (fields {@code
 * events}, {@code packets}; weight: events, 0 when unknown) and {@code notice:corrupt}.
 *
 * <p>Fields are those that users of the trace see, flattened: payload fields by their names,
 * members of structures as {@code a.b}, options of variants as {@code v.option}, the packet context
 * as {@code packet.x}, the common context as {@code context.x}, the specific one as {@code
 * event_context.x}. Arrays of integers are spans of them; other arrays are spans of JSON text.
 * Options that a row does not have are zero or empty.
 *
 * <p>Times are nanoseconds from the clock's origin, where the metadata tells an offset that is the
 * Unix epoch ({@link Clock#REALTIME}); 0 in streams without a clock. CPUs come from {@code cpu_id}
 * of the packet context, threads from LTTng's contexts {@code tid}/{@code vtid}, {@code pid}/{@code
 * vpid}.
 */
public final class CtfRecording implements Recording, ListingStyle {
    /** Rows of a batch of every lane together. */
    private static final int MOST_ROWS = 1 << 18;

    private static final int LEAST_ROWS = 512;
    private static final String METADATA = "metadata";

    private final InputSet inputs;
    private final ReaderNotes notes = new ReaderNotes();
    private final List<CtfStreams> traces = new ArrayList<>();
    private final Map<Source, CtfStreams> bySource = new IdentityHashMap<>();

    /** A trace and its data streams. */
    private record CtfStreams(
            String folder, DecodePlan plan, Source source, List<List<StreamFile>> streams) {}

    private CtfRecording(InputSet inputs) throws IOException {
        this.inputs = inputs;
        MalformedInputException first = null;
        for (String name : inputs.names()) {
            if (!isMetadataName(name)) {
                continue;
            }
            String folder = name.substring(0, name.length() - METADATA.length());
            try {
                CtfStreams trace = trace(folder, name);
                traces.add(trace);
                bySource.put(trace.source, trace);
            } catch (MalformedInputException e) {
                first = first == null ? e : first;
                notes.add(name + " cannot be read: " + e.getMessage());
            }
        }
        if (traces.isEmpty()) {
            throw first != null
                    ? first
                    : new MalformedInputException("ctf", METADATA, -1, "no such file");
        }
    }

    /** Whether a name among inputs is that of a trace's metadata. */
    public static boolean isMetadataName(String name) {
        return name.equals(METADATA) || name.endsWith("/" + METADATA);
    }

    /** Whether there is metadata of CTF among inputs. */
    public static boolean isCtf(InputSet inputs) throws IOException {
        for (String name : inputs.names()) {
            if (isMetadataName(name) && isMetadata(inputs.open(name))) {
                return true;
            }
        }
        return false;
    }

    /** Whether an input is the metadata of a trace, whatever its name. */
    public static boolean isMetadata(Input input) {
        return MetadataText.isMetadata(input);
    }

    /**
     * Reads the metadata of the traces among inputs. One that cannot be read is passed over with a
     * note when there are others.
     *
     * @param inputs closed with the recording, and when this fails
     * @throws MalformedInputException when there is no trace, or none that can be read
     */
    public static CtfRecording open(InputSet inputs) throws IOException {
        try {
            return new CtfRecording(inputs);
        } catch (IOException | RuntimeException e) {
            inputs.close();
            throw e;
        }
    }

    private CtfStreams trace(String folder, String metadata) throws IOException {
        TraceClass trace = MetadataText.read(inputs.open(metadata));
        Object domain = trace.environment.get("domain");
        DecodePlan plan = DecodePlan.of(trace, domain instanceof String text ? text : "ctf");
        String name = folder.isEmpty() ? "ctf" : folder.substring(0, folder.length() - 1);
        Source source = new Source(name, clock(plan), plan.types);
        Map<List<Long>, List<StreamFile>> groups = new LinkedHashMap<>();
        long alone = 0;
        for (StreamFile file : files(folder)) {
            first(plan, file);
            // Files of one stream that a tracer cut (LTTng's tracefile rotation) say the same id.
            List<Long> key =
                    file.instance >= 0
                            ? List.of(file.streamClass, file.instance)
                            : List.of(alone++);
            groups.computeIfAbsent(key, one -> new ArrayList<>()).add(file);
        }
        groups.values().forEach(group -> group.sort(Comparator.comparingLong(file -> file.begin)));
        return new CtfStreams(folder, plan, source, List.copyOf(groups.values()));
    }

    private static Clock clock(DecodePlan plan) {
        for (StreamPlan stream : plan.streams.values()) {
            ClockClass clock = stream.clock;
            if (clock != null) {
                return clock.epoch()
                        ? Clock.REALTIME
                        : clock.name().equals("monotonic") ? Clock.MONO : Clock.LOCAL;
            }
        }
        return Clock.UNKNOWN;
    }

    /** The files of a trace's streams: all in its folder that are not hidden. */
    private List<StreamFile> files(String folder) throws IOException {
        SortedSet<String> names = inputs.names();
        List<StreamFile> files = new ArrayList<>();
        for (String name : names.tailSet(folder)) {
            if (!name.startsWith(folder)) {
                break;
            }
            String file = name.substring(folder.length());
            if (file.contains("/") || file.startsWith(".") || file.equals(METADATA)) {
                continue;
            }
            Input input = inputs.open(name);
            if (input.sizeBytes() > 0) {
                files.add(new StreamFile(name, input, index(names, folder, file, input)));
            }
        }
        return files;
    }

    private long[] index(SortedSet<String> names, String folder, String file, Input of)
            throws IOException {
        String name = folder + "index/" + file + ".idx";
        try {
            return StreamFile.index(
                    names.contains(name) ? inputs.open(name) : null, of.sizeBytes());
        } catch (MalformedInputException e) {
            notes.add(name + " is not used: " + e.getMessage());
            return new long[0];
        }
    }

    /** Looks at a file's first packet. */
    private static void first(DecodePlan plan, StreamFile file) {
        CtfDecoder decoder = new CtfDecoder(plan);
        PacketWalk packets = new PacketWalk(plan, decoder, List.of(file));
        try {
            if (packets.advance()) {
                StreamPlan stream = packets.stream;
                file.streamClass = stream == null ? -1 : stream.type.id;
                file.instance = decoder.told(FieldRole.DATA_STREAM_ID, -1);
                file.begin = packets.begin;
            }
        } catch (PacketOverrun e) {
            file.instance = -1; // its lane tells of it
        }
    }

    @Override
    public List<Source> sources() {
        return traces.stream().map(CtfStreams::source).toList();
    }

    @Override
    public List<Lane> lanes() {
        notes.clearLosses();
        List<Lane> lanes = new ArrayList<>();
        int count = traces.stream().mapToInt(trace -> trace.streams.size()).sum();
        // Hundreds of lanes hold a batch or two each.
        int rows = Math.clamp(MOST_ROWS / Math.max(1, count), LEAST_ROWS, Batch.CAPACITY);
        for (CtfStreams trace : traces) {
            for (List<StreamFile> files : trace.streams) {
                lanes.add(new StreamLane(trace.source, trace.plan, files, notes, rows));
            }
        }
        return lanes;
    }

    /** The environment of a trace: what its tracer said about itself; longs and strings. */
    public Map<String, Object> environment(Source source) {
        return Map.copyOf(of(source).plan.trace.environment);
    }

    private CtfStreams of(Source source) {
        CtfStreams trace = bySource.get(source);
        if (trace == null) {
            throw new IllegalArgumentException(source.name());
        }
        return trace;
    }

    @Override
    public RowText text(Source source, ListingRequest request) {
        return text(source, ZoneId.systemDefault(), request.threads());
    }

    @Override
    public RowText json(Source source, ListingRequest request) {
        return json(source, request.threads());
    }

    /** Writes the rows of a source as babeltrace2 does. */
    public RowText text(Source source, ZoneId zone, @Nullable ThreadNames names) {
        return new CtfText(of(source).plan, zone, names);
    }

    /** Writes the rows of a source as JSON, an object a line. */
    public RowText json(Source source, @Nullable ThreadNames names) {
        return new CtfJson(of(source).plan, names);
    }

    @Override
    public List<String> notes() {
        return notes.all();
    }

    @Override
    public void close() {
        inputs.close();
    }
}
