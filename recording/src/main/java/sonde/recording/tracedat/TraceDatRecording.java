package sonde.recording.tracedat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.binary.FieldCursor;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.event.Clock;
import sonde.event.Field;
import sonde.event.KernelIdentity;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.event.Source;
import sonde.recording.AppendedEvents;
import sonde.recording.bundle.RecordingMeta;
import sonde.recording.bundle.RecordingMeta.RecordedLoss;
import sonde.recording.ftrace.AddressNames;
import sonde.recording.ftrace.CpuStats;
import sonde.recording.ftrace.EventFormat;
import sonde.recording.ftrace.EventFormats;
import sonde.recording.ftrace.EventFormats.FormatFile;
import sonde.recording.ftrace.EventJson;
import sonde.recording.ftrace.EventText;
import sonde.recording.ftrace.FieldText;
import sonde.recording.ftrace.FtraceTypeTable;
import sonde.recording.ftrace.ListingRequest;
import sonde.recording.ftrace.ListingStyle;
import sonde.recording.ftrace.PageLane;
import sonde.recording.ftrace.PageLane.PageRuns;
import sonde.recording.ftrace.PageLane.RingSource;
import sonde.recording.ftrace.PageLayout;
import sonde.recording.ftrace.RowText;
import sonde.recording.ftrace.TextContext;
import sonde.recording.ftrace.ThreadNames;
import sonde.recording.tracedat.TraceDatContent.BufferArea;
import sonde.recording.tracedat.TraceDatReader.SpoolFile;

/**
 * A trace.dat, or the spools of a recorder that did not live to make one. There is a source per
 * clock (nearly always one) and a lane per buffer and CPU, ordered by buffer, then CPU.
 */
final class TraceDatRecording
        implements Recording, TraceDatDescription, ListingStyle, AppendedEvents {
    /** How trace-cmd begins the account of a CPU. */
    private static final Pattern CPU = Pattern.compile("CPU: (\\d{1,6})\n");

    private final List<Input> inputs;
    private final TraceDatContent content;
    private final TraceDatMetadata metadata;
    private final FtraceTypeTable table;
    private final Map<Clock, Source> sources;

    private TraceDatRecording(List<Input> inputs, TraceDatContent content) throws IOException {
        this.inputs = inputs;
        this.content = content;
        this.metadata = content.metadata();
        PageLayout layout = content.layout();
        this.table = FtraceTypeTable.of(formats(layout.commitBytes()), layout);
        this.sources = new EnumMap<>(Clock.class);
        for (BufferArea area : content.areas) {
            sources.computeIfAbsent(area.clock(), this::source);
        }
        if (sources.isEmpty()) {
            Clock clock = Clock.named(metadata.clockName());
            sources.put(clock, source(clock));
        }
    }

    static TraceDatRecording of(Input input) throws IOException {
        return new TraceDatRecording(List.of(input), TraceDatParser.parse(input));
    }

    static TraceDatRecording ofSpools(TraceDatMetadata metadata, List<SpoolFile> spools)
            throws IOException {
        TraceDatContent content = new TraceDatContent(ByteOrder.nativeOrder(), "spools");
        content.headerPage = metadata.headerPage();
        content.headerEvent = metadata.headerEvent();
        content.ftraceFormats.addAll(metadata.ftraceFormats());
        content.eventFormats.putAll(metadata.eventFormats());
        content.kallsyms = metadata.kallsyms();
        content.printk = metadata.printk();
        content.cmdlines = metadata.cmdlines();
        content.cpuCount = metadata.cpuCount();
        content.cpuStats.addAll(metadata.cpuStats());
        content.clock = metadata.clock();
        content.uname = metadata.uname();
        content.traceId = metadata.traceId();
        content.version = metadata.version();
        List<Input> inputs = new ArrayList<>();
        for (SpoolFile spool : spools) {
            inputs.add(spool.input());
            content.buffer(spool.buffer());
            content.areas.add(
                    new BufferArea(
                            spool.buffer(),
                            Clock.named(spool.clock()),
                            spool.pageBytes(),
                            spool.cpu(),
                            spool.input(),
                            0,
                            spool.input().sizeBytes(),
                            0,
                            TraceDatCompression.NONE));
        }
        return new TraceDatRecording(List.copyOf(inputs), content);
    }

    private Map<String, List<EventFormat>> formats(int longBytes) {
        Map<String, List<EventFormat>> formats = new LinkedHashMap<>();
        Map<String, Field> known = new HashMap<>();
        formats.put("ftrace", parse("ftrace", metadata.ftraceFormats(), longBytes, known));
        metadata.eventFormats()
                .forEach((system, texts) ->
                        formats.merge(
                                system,
                                parse(system, texts, longBytes, known),
                                TraceDatRecording::joined));
        return formats;
    }

    private static List<EventFormat> joined(List<EventFormat> a, List<EventFormat> b) {
        List<EventFormat> all = new ArrayList<>(a);
        all.addAll(b);
        return all;
    }

    private List<EventFormat> parse(
            String system, List<byte[]> texts, int longBytes, Map<String, Field> known) {
        List<EventFormat> formats = new ArrayList<>();
        for (byte[] text : texts) {
            try {
                formats.add(EventFormat.parse(text, longBytes, known));
            } catch (MalformedInputException e) {
                content.note("format in " + system + ": " + e.reason());
            }
        }
        return formats;
    }

    private Source source(Clock clock) {
        return new Source("trace.dat", content.correction.clock(clock), table.types());
    }

    @Override
    public List<Source> sources() {
        return List.copyOf(sources.values());
    }

    @Override
    public List<Lane> lanes() throws IOException {
        List<Lane> lanes = new ArrayList<>();
        for (BufferArea area : content.areas) {
            lanes.add(lane(area, area.missingBytes(), pages(area)));
        }
        return lanes;
    }

    private Lane lane(BufferArea area, long missingBytes, PageRuns pages) {
        return new PageLane(
                sources.computeIfAbsent(area.clock(), this::source),
                new RingSource(
                        area.buffer(),
                        area.cpu(),
                        area.pageBytes(),
                        content.correction.of(area.cpu()),
                        missingBytes),
                table,
                pages);
    }

    /** Spools hold nothing but sub-buffers. */
    @Override
    public long start() {
        return 0;
    }

    @Override
    public int wholeBytes(byte[] piece) {
        int pageBytes = content.areas.getFirst().pageBytes();
        return piece.length / pageBytes * pageBytes;
    }

    @Override
    public Lane lane(String buffer, int cpu, byte[] piece, int sizeBytes) {
        MemorySegment bytes = MemorySegment.ofArray(piece).asSlice(0, sizeBytes);
        for (BufferArea area : content.areas) {
            if (area.cpu() == cpu && area.buffer().equals(buffer)) {
                return lane(area, 0, new OneRun(bytes));
            }
        }
        throw new IllegalArgumentException("no ring of cpu " + cpu + " in buffer " + buffer);
    }

    private PageRuns pages(BufferArea area) throws IOException {
        MemorySegment bytes = area.input().segment().asSlice(area.offset(), area.sizeBytes());
        if (area.compression() == TraceDatCompression.NONE) {
            return new OneRun(bytes);
        }
        FieldCursor chunks = new FieldCursor(content.name, bytes, content.order);
        long count = chunks.remaining() < 4 ? 0 : chunks.u32("chunks");
        return new Chunks(area, chunks, count);
    }

    /** Pages that lie as they are. */
    private static final class OneRun implements PageLane.PageRuns {
        private @Nullable MemorySegment bytes;

        OneRun(MemorySegment bytes) {
            this.bytes = bytes;
        }

        @Override
        public @Nullable MemorySegment next() {
            MemorySegment run = bytes;
            bytes = null;
            return run;
        }
    }

    /** Compressed pages. A damaged or cut chunk ends the lane; the metadata has told of a cut. */
    private final class Chunks implements PageLane.PageRuns {
        private final BufferArea area;
        private final FieldCursor chunks;
        private long left;

        Chunks(BufferArea area, FieldCursor chunks, long count) {
            this.area = area;
            this.chunks = chunks;
            this.left = count;
        }

        @Override
        public @Nullable MemorySegment next() throws IOException {
            if (left == 0) {
                return null;
            }
            left--;
            try {
                return area.compression().readBlock("chunk", chunks);
            } catch (MalformedInputException e) {
                left = 0;
                content.note(BufferAreas.where(area) + ": the rest is not readable: " + e.reason());
                return null;
            }
        }
    }

    @Override
    public KernelIdentity kernel() {
        return KernelIdentity.ofUname(metadata.uname());
    }

    @Override
    public byte[] kallsyms() {
        return metadata.kallsyms();
    }

    @Override
    public Optional<Map<Integer, String>> threadNames() {
        return Optional.of(comms());
    }

    @Override
    public TraceDatMetadata metadata() {
        return metadata;
    }

    @Override
    public <C> Optional<C> capability(Class<C> kind) {
        return kind == EventFormats.class
                ? Optional.of(kind.cast(kernelFormats()))
                : Recording.super.capability(kind);
    }

    private EventFormats kernelFormats() {
        PageLayout layout = table.layout();
        int longBytes = layout.commitBytes();
        List<FormatFile> formats =
                new ArrayList<>(
                        EventFormats.parse(Map.of("ftrace", metadata.ftraceFormats()), longBytes));
        formats.addAll(EventFormats.parse(metadata.eventFormats(), longBytes));
        return new EventFormats(
                layout.order(),
                longBytes,
                layout.old() ? new byte[0] : metadata.headerPage(),
                metadata.headerEvent(),
                formats,
                metadata.kallsyms(),
                metadata.printk());
    }

    @Override
    public List<RecordedLoss> losses() {
        List<RecordedLoss> losses = new ArrayList<>();
        for (byte[] account : metadata.cpuStats()) {
            String text = new String(account, StandardCharsets.UTF_8);
            Matcher head = CPU.matcher(text);
            int cpu = head.lookingAt() ? Integer.parseInt(head.group(1)) : -1;
            CpuStats stats = CpuStats.parse(text);
            long full = stats.overrun() + stats.dropped();
            if (full > 0) {
                losses.add(loss(cpu, RecordingMeta.LossKind.RING_FULL, full));
            }
            if (stats.commitOverrun() > 0) {
                losses.add(loss(cpu, RecordingMeta.LossKind.COMMIT_OVERRUN, stats.commitOverrun()));
            }
        }
        return losses;
    }

    private static RecordedLoss loss(int cpu, RecordingMeta.LossKind kind, long events) {
        return new RecordedLoss("trace.dat", "", cpu, kind, events);
    }

    /** The event types by the kernel's numbers. */
    public FtraceTypeTable table() {
        return table;
    }

    /** Kernel symbols and strings of the recording, for the texts of its events. */
    public TextContext textContext() {
        return TextContext.of(table.layout(), metadata.kallsyms(), metadata.printk());
    }

    /** A new writer of its events as text, {@link #timeOffset()} included. */
    public EventText eventText() {
        return eventText(ThreadNames.of(comms()));
    }

    /** As {@link #eventText()}, with names that other sources tell too. */
    public EventText eventText(ThreadNames names) {
        Source first = sources.values().iterator().next();
        return new EventText(first, textContext(), names).offsetBy(content.timeOffset);
    }

    @Override
    public byte[] preface() {
        return latencyText();
    }

    @Override
    public RowText text(Source of, ListingRequest request) {
        return request.styled(eventText(request.threads()), content.timeOffset);
    }

    @Override
    public RowText json(Source of, ListingRequest request) {
        return new EventJson(of, textContext(), request.threads(), AddressNames.NONE)
                .offsetBy(content.timeOffset);
    }

    @Override
    public FieldText.Details details(Source of, ListingRequest request) {
        return request.styled(eventText(request.threads()), content.timeOffset)::appendBody;
    }

    @Override
    public List<String> buffers() {
        return List.copyOf(content.buffers);
    }

    @Override
    public long timeOffset() {
        return content.timeOffset;
    }

    /** {@code /proc/PID/maps} texts that trace-cmd saved for {@code --proc-map}; may be empty. */
    public byte[] procMaps() {
        return content.procMaps.clone();
    }

    /** {@code /sys/kernel/btf/vmlinux} of the recorded machine; empty before trace-cmd 3.2. */
    public byte[] btf() {
        return content.btf.clone();
    }

    /** {@code /proc/modules} of the recorded machine; empty before trace-cmd 3.4. */
    public byte[] modules() {
        return content.modules.clone();
    }

    /** {@code last_boot_info} of persistent buffers by the instance's name. */
    public Map<String, String> lastBoots() {
        return Map.copyOf(content.lastBoots);
    }

    /** Hooks that connect events for {@code trace-cmd profile}, as they were given. */
    public List<String> hooks() {
        return List.copyOf(content.hooks);
    }

    /** Guests whose files were recorded along with this one. */
    public List<GuestOption> guests() {
        return List.copyOf(content.guests);
    }

    @Override
    public Optional<TimeShift> timeShift() {
        return content.correction.shift();
    }

    /** Text of a latency tracer, empty for files with events. */
    public byte[] latencyText() {
        return content.latencyText.clone();
    }

    /** What is missing or damaged, one sentence each; grows while compressed lanes are read. */
    @Override
    public List<String> notes() {
        return content.notes();
    }

    /** Command names by tid, from the CMDLINES section. */
    public Map<Integer, String> comms() {
        Map<Integer, String> comms = new HashMap<>();
        String text = new String(metadata.cmdlines(), StandardCharsets.UTF_8);
        for (String line : text.split("\n")) {
            int blank = line.indexOf(' ');
            if (blank > 0) {
                try {
                    comms.put(Integer.valueOf(line.substring(0, blank)), line.substring(blank + 1));
                } catch (NumberFormatException e) {
                    content.note("cmdlines: \"" + line + "\" is no tid and name");
                }
            }
        }
        return comms;
    }

    @Override
    public void close() {
        inputs.forEach(Input::close);
    }
}
