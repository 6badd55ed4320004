package sonde.recording.perfdata;

import static sonde.recording.perfdata.PerfAbi.FLAG_USE_CLOCKID;
import static sonde.recording.perfdata.PerfAbi.HEADER_BYTES;
import static sonde.recording.perfdata.PerfAbi.PERF_ATTR_SIZE_VER0;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_AUXTRACE;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_EVENT_UPDATE;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_HEADER_ATTR;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_HEADER_BUILD_ID;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_HEADER_EVENT_TYPE;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_HEADER_FEATURE;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_HEADER_TRACING_DATA;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import sonde.binary.FieldCursor;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.event.KernelIdentity;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.event.Source;
import sonde.recording.AppendedEvents;
import sonde.recording.ftrace.EventFormats;
import sonde.recording.ftrace.ListingStyle;

/**
 * A perf.data that is read: file, pipe or directory mode, either byte order, whole, cut or left by
 * a killed recorder.
 *
 * <p>It has one source, "perf.data", with one lane (in directory mode one for each file), and these
 * event types:
 *
 * <ul>
 *   <li>{@code notice:lost} (weight: events lost), {@code throttle}, {@code unthrottle}, {@code
 *       corrupt}, {@code unknown} (a sample whose id no attr lists);
 *   <li>{@code perf_record:NAME} for every record that says something (perf_event.h, and perf's own
 *       such as {@code auxtrace}): the payload is the record from its header on, so that {@code
 *       misc} is a field, up to where its sample_id begins;
 *   <li>the system and name of each tracepoint, payload the ftrace record with {@code common_type}
 *       at 0;
 *   <li>{@code perf:NAME} for every other event, NAME as {@code perf evlist} shows it; fields are
 *       what its samples carry besides columns: {@code addr}, {@code data_src}, {@code user_regs},
 *       {@code branch_from}…; of {@code bpf-output} the payload is RAW.
 * </ul>
 *
 * <p>Every row has pid, tid and cpu where the record tells (the kernel writes -1 for a task whose
 * exit has gone far, so the last {@code sched_switch} of a thread names it in its fields only);
 * samples have their period as weight and their call chain, or else their ip, as stack; a deferred
 * user call chain stands in its samples. Records without a time of their own (synthetic ones) take
 * that of the record before them.
 *
 * <p>AUX areas are listed and not decoded.
 */
final class PerfDataRecording
        implements Recording, PerfDescription, CopiedStackSamples, AppendedEvents {
    private static final int MOST_NOTES = 100;
    private static final long MOST_SECTION_BYTES = 64 << 20;
    private static final int MOST_PIPE_ATTRS = 1 << 16;
    // enum of perf_record_event_update.type: PERF_EVENT_UPDATE__NAME
    private static final long UPDATE_NAME = 2;

    private final Input input;
    private final PerfHeader header;
    private final PerfView view;
    private final Set<String> notes = new LinkedHashSet<>();
    private static final Pattern CPU_EVENT =
            Pattern.compile(
                    "cycles|cpu-cycles|cpu_core/cycles|cpu_atom/cycles|cpu-clock|task-clock");

    private final List<AttrEntry> attrs;
    private final RecordedFeatures features;
    private final PerfTypes types;
    private final Source source;
    private final SampleLayout[] layouts;
    private final EventIds ids;
    private final List<Input> parts;
    private final Map<Lane, long[]> counts = new IdentityHashMap<>();
    private Optional<Supplier<CopiedStackUnwinder>> userStacks = Optional.empty();
    private boolean fields = true;
    private byte[] copiedKallsyms = {};

    private PerfDataRecording(Input input, List<Input> parts) throws MalformedInputException {
        this.input = input;
        this.parts = List.copyOf(parts);
        header = PerfHeader.read(input);
        view = new PerfView(input.segment(), isSwapped());
        List<String> found = new ArrayList<>(header.notes());
        FeatureReader reader = new FeatureReader(header.order(), found);
        List<AttrEntry> stated = header.attrs();
        if (header.pipe()) {
            stated = new PipeHeader(reader, found).read();
        } else {
            header.features()
                    .forEach((feature, place) ->
                            reader.accept(
                                    feature,
                                    input.segment().asSlice(place.offset(), place.sizeBytes())));
        }
        notesOnTruncation(found);
        features = reader.result();
        List<AttrEntry> named = named(stated, features.eventNames(), header.eventTypes());
        types = new PerfTypes(named, features.tracingData(), found);
        if (isCounting(named)) {
            types.addCounters();
        }
        attrs = withFormats(named);
        source = new Source("perf.data", clock(), types.types());
        layouts = new SampleLayout[attrs.size()];
        for (int i = 0; i < layouts.length; i++) {
            layouts[i] = new SampleLayout(attrs.get(i).attr());
        }
        ids = new EventIds(attrs);
        found.forEach(this::note);
    }

    /**
     * Reads the header of a recording.
     *
     * @param input the file, or in directory mode the file {@code data}
     * @param parts the files {@code data.0}, {@code data.1}, … of a folder: records without a
     *     header
     */
    static PerfDataRecording open(Input input, List<Input> parts) throws IOException {
        try {
            return new PerfDataRecording(input, parts);
        } catch (IOException | RuntimeException e) {
            input.close();
            parts.forEach(Input::close);
            throw e;
        }
    }

    @Override
    public List<Source> sources() {
        return List.of(source);
    }

    @Override
    public List<Lane> lanes() {
        List<Lane> lanes = new ArrayList<>();
        long start = header.dataOffset();
        lanes.add(new PerfLane(this, view, input.name(), start, header.dataEnd()));
        for (Input part : parts) {
            PerfView records = new PerfView(part.segment(), isSwapped());
            lanes.add(new PerfLane(this, records, part.name(), 0, part.sizeBytes()));
        }
        return lanes;
    }

    @Override
    public long start() {
        return header.dataOffset();
    }

    @Override
    public int wholeBytes(byte[] piece) {
        PerfView records = new PerfView(MemorySegment.ofArray(piece), isSwapped());
        return (int) wholeEnd(records, 0, piece.length);
    }

    /** What one piece holds is sorted in itself: its end is that of all its rounds. */
    @Override
    public Lane lane(String buffer, int cpu, byte[] piece, int sizeBytes) {
        PerfView records = new PerfView(MemorySegment.ofArray(piece), isSwapped());
        return new PerfLane(this, records, input.name(), 0, sizeBytes);
    }

    @Override
    public KernelIdentity kernel() {
        byte[] kernelId = {};
        Map<String, byte[]> modules = new LinkedHashMap<>();
        for (BuildId id : features.buildIds()) {
            if (id.kernel() && id.isKnown()) {
                modules.putIfAbsent(id.path(), id.bytes());
                kernelId = id.path().startsWith("[kernel") ? id.bytes() : kernelId;
            }
        }
        return new KernelIdentity(
                features.hostname(), features.osRelease(), features.arch(), kernelId, modules);
    }

    @Override
    public byte[] kallsyms() {
        String kept = features.tracingData().map(TracingData::kallsyms).orElse("");
        return kept.getBytes(StandardCharsets.UTF_8);
    }

    /** Takes the text that {@code perf record --kcore} copied. */
    void copied(byte[] kallsyms) {
        copiedKallsyms = kallsyms;
    }

    @Override
    public byte[] copiedKallsyms() {
        return copiedKallsyms;
    }

    @Override
    public Map<String, byte[]> fileIds() {
        Map<String, byte[]> ids = new HashMap<>();
        for (BuildId id : features.buildIds()) {
            if (!id.kernel() && id.isKnown()) {
                ids.putIfAbsent(id.path(), id.bytes());
            }
        }
        return ids;
    }

    @Override
    public boolean hasKernelRecords() {
        return true;
    }

    @Override
    public <C> Optional<C> capability(Class<C> kind) {
        if (kind == ListingStyle.class) {
            return Optional.of(kind.cast(new PerfListing(this)));
        }
        return kind == EventFormats.class
                ? features.tracingData().map(data -> kind.cast(data.kernelFormats(order())))
                : Recording.super.capability(kind);
    }

    @Override
    public boolean hasUserStacks() {
        return attrs.stream().anyMatch(entry -> PerfRows.hasUserStack(entry.attr()));
    }

    @Override
    public void userStacks(Supplier<CopiedStackUnwinder> maker) {
        userStacks = Optional.of(maker);
    }

    @Override
    public void recordedStacks() {
        userStacks = Optional.empty();
    }

    @Override
    public void sampleFields(boolean wanted) {
        fields = wanted;
    }

    boolean hasFields() {
        return fields;
    }

    Optional<CopiedStackUnwinder> stacksOfLane() {
        return hasUserStacks() ? userStacks.map(Supplier::get) : Optional.empty();
    }

    @Override
    public Map<String, Long> recordCounts() {
        long[] sums = new long[PerfRecordNames.MOST];
        synchronized (counts) {
            for (long[] of : counts.values()) {
                for (int i = 0; i < sums.length; i++) {
                    sums[i] += of[i];
                }
            }
        }
        return PerfRecordNames.counted(sums);
    }

    /** A lane has been read to its end; those of an earlier reading do not count twice. */
    void counted(Lane lane, long[] of) {
        synchronized (counts) {
            if (counts.size() > parts.size()) {
                counts.clear();
            }
            counts.put(lane, of.clone());
        }
    }

    /** Whether perf stat wrote it: its events count and take no samples. */
    private boolean isCounting(List<AttrEntry> entries) {
        return header.features().containsKey(PerfFeatures.HEADER_STAT)
                || !entries.isEmpty()
                        && entries.stream()
                                .map(AttrEntry::attr)
                                .allMatch(PerfDataRecording::counts);
    }

    private static boolean counts(PerfAttr attr) {
        return attr.samplePeriod() == 0
                && (attr.sampleType() & ~PerfAbi.PERF_SAMPLE_IDENTIFIER) == 0;
    }

    private void notesOnTruncation(List<String> found) {
        boolean tracepoints =
                attrsHave(
                        found.isEmpty() ? List.of() : header.attrs(), PerfAbi.PERF_TYPE_TRACEPOINT);
        if (tracepoints && !header.features().containsKey(PerfFeatures.HEADER_TRACING_DATA)) {
            found.add(
                    input.name()
                            + ": the formats of its tracepoints are missing: names and fields are"
                            + " not known");
        }
    }

    private static boolean attrsHave(List<AttrEntry> entries, int type) {
        return entries.stream().anyMatch(entry -> entry.attr().type() == type);
    }

    @Override
    public List<AttrEntry> attrs() {
        return attrs;
    }

    @Override
    public RecordedFeatures features() {
        return features;
    }

    @Override
    public Optional<byte[]> section(int feature) {
        var place = header.features().get(feature);
        if (place == null || place.sizeBytes() > MOST_SECTION_BYTES) {
            return Optional.empty();
        }
        MemorySegment content = input.segment().asSlice(place.offset(), place.sizeBytes());
        return Optional.of(content.toArray(ValueLayout.JAVA_BYTE));
    }

    @Override
    public boolean isFinished() {
        return header.finished();
    }

    @Override
    public long dataBytes() {
        return header.dataEnd() - header.dataOffset();
    }

    /**
     * What was odd, in plain sentences: things left out, records skipped. Those about records are
     * complete when every lane has been read.
     */
    @Override
    public List<String> notes() {
        synchronized (notes) {
            return List.copyOf(notes);
        }
    }

    @Override
    public EventType typeOf(int attr) {
        return types.types().get(types.ofAttr(attr));
    }

    @Override
    public void close() {
        input.close();
        parts.forEach(Input::close);
    }

    void note(String text) {
        synchronized (notes) {
            if (notes.size() < MOST_NOTES) {
                notes.add(text);
            }
        }
    }

    Source source() {
        return source;
    }

    PerfTypes types() {
        return types;
    }

    SampleLayout[] layouts() {
        return layouts;
    }

    EventIds ids() {
        return ids;
    }

    /** By the frequency of an event that counts what runs; a fixed period is not a time. */
    @Override
    public long sampleNanos() {
        long hertz =
                attrs.stream()
                        .filter(entry -> entry.attr().has(PerfAbi.FLAG_FREQ))
                        .filter(entry -> CPU_EVENT.matcher(entry.name()).lookingAt())
                        .mapToLong(entry -> entry.attr().samplePeriod())
                        .filter(frequency -> frequency > 0)
                        .min()
                        .orElse(0);
        return hertz == 0 ? 0 : 1_000_000_000L / hertz;
    }

    @Override
    public ByteOrder order() {
        return header.order();
    }

    boolean isSwapped() {
        return header.order() != ByteOrder.nativeOrder();
    }

    private Clock clock() {
        for (AttrEntry entry : attrs) {
            if (entry.attr().has(FLAG_USE_CLOCKID)) {
                // include/uapi/linux/time.h
                return switch (entry.attr().clockid()) {
                    case 0 -> Clock.REALTIME;
                    case 1 -> Clock.MONO;
                    case 4 -> Clock.MONO_RAW;
                    case 7 -> Clock.BOOT;
                    case 11 -> Clock.TAI;
                    default -> Clock.UNKNOWN;
                };
            }
        }
        return types.ofCounters() < 0 ? Clock.PERF : Clock.LOCAL; // perf stat: since it began
    }

    /** Pipes do not tell names of tracepoints: their formats do. */
    private List<AttrEntry> withFormats(List<AttrEntry> entries) {
        List<AttrEntry> all = new ArrayList<>();
        for (int i = 0; i < entries.size(); i++) {
            AttrEntry entry = entries.get(i);
            boolean made = entry.name().startsWith(PerfEventNames.UNNAMED_TRACEPOINT);
            String name = made ? typeOf(i).qualifiedName() : entry.name();
            all.add(new AttrEntry(entry.attr(), entry.ids(), name));
        }
        return List.copyOf(all);
    }

    /**
     * EVENT_DESC has the attrs once more, with names: joined by id, else by place. Without it they
     * are made up as perf does.
     */
    private static List<AttrEntry> named(
            List<AttrEntry> attrs, List<AttrEntry> described, Map<Long, String> types) {
        Map<Long, String> byId = new HashMap<>();
        for (AttrEntry entry : described) {
            for (long id : entry.ids()) {
                byId.putIfAbsent(id, entry.name());
            }
        }
        List<AttrEntry> named = new ArrayList<>();
        for (int i = 0; i < attrs.size(); i++) {
            AttrEntry entry = attrs.get(i);
            long[] ids = entry.ids();
            String name = ids.length > 0 ? byId.get(ids[0]) : null;
            if (name == null && described.size() == attrs.size()) {
                name = described.get(i).name();
            }
            if (name == null || name.isEmpty()) {
                // Before 3.3 a table of the numbers of tracepoints stood in the file.
                boolean listed = entry.attr().type() == PerfAbi.PERF_TYPE_TRACEPOINT;
                name = listed ? types.get(entry.attr().config()) : null;
            }
            if (name == null) {
                name = PerfEventNames.of(entry.attr());
            }
            named.add(entry.name().isEmpty() ? new AttrEntry(entry.attr(), ids, name) : entry);
        }
        return named;
    }

    /**
     * Bytes that follow a record without counting in its size.
     *
     * @param left bytes of the data behind the record; never exceeded
     */
    static long bytesBehind(PerfView view, long at, int type, int size, long left) {
        long behind = 0;
        if (type == PERF_RECORD_HEADER_TRACING_DATA && size >= 12) {
            behind = (view.u32(at + 8) & 0xffff_ffffL) + 7 & ~7L;
        } else if (type == PERF_RECORD_AUXTRACE && size >= 16) {
            behind = view.u64(at + 8);
        }
        return behind < 0 ? left : Math.min(behind, left);
    }

    /** Where whole records end: less than the data's end when the last one is cut. */
    static long wholeEnd(PerfView view, long start, long end) {
        long at = start;
        while (end - at >= HEADER_BYTES) {
            int size = view.u16(at + 6);
            if (size < HEADER_BYTES || size > end - at) {
                break;
            }
            long left = end - at - size;
            at += size + bytesBehind(view, at, view.u32(at), size, left);
        }
        return at;
    }

    /** In pipe mode attrs, names and features are records among the others. */
    private final class PipeHeader {
        private final FeatureReader reader;
        private final List<String> found;
        private final List<PerfAttr> pipeAttrs = new ArrayList<>();
        private final List<long[]> pipeIds = new ArrayList<>();
        private final Map<Long, String> names = new HashMap<>();

        PipeHeader(FeatureReader reader, List<String> found) {
            this.reader = reader;
            this.found = found;
        }

        List<AttrEntry> read() {
            long end = header.dataEnd();
            long at = header.dataOffset();
            while (end - at >= HEADER_BYTES) {
                int type = view.u32(at);
                int size = view.u16(at + 6);
                if (size < HEADER_BYTES || size > end - at) {
                    break; // the lane says so
                }
                long behind = bytesBehind(view, at, type, size, end - at - size);
                if (type >= PERF_RECORD_HEADER_ATTR) {
                    record(type, at, size, behind);
                }
                at += size + behind;
            }
            List<AttrEntry> entries = new ArrayList<>();
            for (int i = 0; i < pipeAttrs.size(); i++) {
                long[] of = pipeIds.get(i);
                String name = of.length == 0 ? "" : names.getOrDefault(of[0], "");
                entries.add(new AttrEntry(pipeAttrs.get(i), of, name));
            }
            return entries;
        }

        private void record(int type, long at, int size, long behind) {
            MemorySegment body = input.segment().asSlice(at + HEADER_BYTES, size - HEADER_BYTES);
            FieldCursor in = new FieldCursor(PerfHeader.FORMAT, body, header.order());
            try {
                switch (type) {
                    case PERF_RECORD_HEADER_ATTR -> attr(in);
                    case PERF_RECORD_EVENT_UPDATE -> update(in);
                    case PERF_RECORD_HEADER_TRACING_DATA ->
                            reader.tracing(input.segment().asSlice(at + size, behind));
                    case PERF_RECORD_HEADER_BUILD_ID ->
                            reader.buildIds(
                                    new FieldCursor(
                                            PerfHeader.FORMAT,
                                            input.segment().asSlice(at, size),
                                            header.order()));
                    case PERF_RECORD_HEADER_FEATURE -> {
                        long feature = in.u64("feature");
                        if (feature > 0 && feature < PerfFeatures.MAX_FEATURES) {
                            reader.accept((int) feature, body.asSlice(8));
                        }
                    }
                    case PERF_RECORD_HEADER_EVENT_TYPE -> {
                        long config = in.u64("event type id");
                        byte[] name = in.bytes("event type name", in.remaining());
                        header.eventTypes().put(config, FeatureReader.untilNul(name));
                    }
                    default -> {} // not part of the header
                }
            } catch (MalformedInputException e) {
                found.add("a header record left out: " + e.getMessage());
            }
        }

        private void attr(FieldCursor in) throws MalformedInputException {
            if (pipeAttrs.size() == MOST_PIPE_ATTRS) {
                throw in.malformed("attr", "more than " + MOST_PIPE_ATTRS);
            }
            in.u32("attr type");
            long stated = in.u32("attr size");
            in.seek("attr", 0);
            long bytes = stated == 0 ? PERF_ATTR_SIZE_VER0 : stated;
            if (bytes < PERF_ATTR_SIZE_VER0) {
                throw in.malformed("attr size", Long.toString(stated));
            }
            byte[] attr = in.bytes("attr", bytes);
            long[] of = new long[(int) (in.remaining() / 8)];
            for (int i = 0; i < of.length; i++) {
                of[i] = in.u64("id");
            }
            pipeAttrs.add(FeatureReader.attr(attr, header.order()));
            pipeIds.add(of);
        }

        private void update(FieldCursor in) throws MalformedInputException {
            long what = in.u64("update type");
            long id = in.u64("update id");
            if (what == UPDATE_NAME) {
                byte[] name = in.bytes("event name", in.remaining());
                names.put(id, FeatureReader.untilNul(name));
            }
        }
    }
}
