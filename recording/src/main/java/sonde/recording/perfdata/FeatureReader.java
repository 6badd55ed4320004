package sonde.recording.perfdata;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedSet;
import java.util.TreeSet;
import sonde.binary.FieldCursor;
import sonde.binary.MalformedInputException;
import sonde.recording.perfdata.RecordedFeatures.ClockData;
import sonde.recording.perfdata.RecordedFeatures.SampleTimes;

/** Gathers header features, from the sections of a file or from the records of a pipe. */
final class FeatureReader {
    private static final int MOST_STRINGS = 1 << 16;
    private static final int MOST_STRING_BYTES = 1 << 20;
    private static final int MOST_TRACING_BYTES = 1 << 28;
    // struct perf_record_header_build_id: header, pid, 20 bytes of id, size, 3 bytes of padding
    private static final int BUILD_ID_BYTES = 36;

    private final ByteOrder order;
    private final List<String> notes;
    private final String[] texts = new String[PerfFeatures.MAX_FEATURES];
    private int cpusAvailable;
    private int cpusOnline;
    private List<String> commandLine = List.of();
    private List<AttrEntry> eventNames = List.of();
    private final List<BuildId> buildIds = new ArrayList<>();
    private Optional<TracingData> tracingData = Optional.empty();
    private Optional<SampleTimes> sampleTime = Optional.empty();
    private OptionalLong clockResolution = OptionalLong.empty();
    private Optional<ClockData> clockData = Optional.empty();
    private final MachineFeatureReader machine = new MachineFeatureReader();
    private final SortedSet<Integer> present = new TreeSet<>();

    FeatureReader(ByteOrder order, List<String> notes) {
        this.order = order;
        this.notes = notes;
        java.util.Arrays.fill(texts, "");
    }

    RecordedFeatures result() {
        return new RecordedFeatures(
                texts[PerfFeatures.HEADER_HOSTNAME],
                texts[PerfFeatures.HEADER_OSRELEASE],
                texts[PerfFeatures.HEADER_VERSION],
                texts[PerfFeatures.HEADER_ARCH],
                cpusAvailable,
                cpusOnline,
                texts[PerfFeatures.HEADER_CPUDESC],
                commandLine,
                eventNames,
                buildIds,
                tracingData,
                sampleTime,
                clockResolution,
                clockData,
                machine.result(),
                Collections.unmodifiableSortedSet(present));
    }

    /** Takes one feature; one that does not follow its format is left out with a note. */
    void accept(int feature, MemorySegment content) {
        try {
            FieldCursor in = new FieldCursor(PerfHeader.FORMAT, content, order);
            switch (feature) {
                case PerfFeatures.HEADER_TRACING_DATA -> tracing(content);
                case PerfFeatures.HEADER_BUILD_ID -> buildIds(in);
                case PerfFeatures.HEADER_HOSTNAME,
                        PerfFeatures.HEADER_OSRELEASE,
                        PerfFeatures.HEADER_VERSION,
                        PerfFeatures.HEADER_ARCH,
                        PerfFeatures.HEADER_CPUDESC ->
                        texts[feature] = string(in);
                case PerfFeatures.HEADER_NRCPUS -> {
                    cpusAvailable = in.s32("CPUs available");
                    cpusOnline = in.s32("CPUs online");
                }
                case PerfFeatures.HEADER_CMDLINE -> commandLine = strings(in);
                case PerfFeatures.HEADER_EVENT_DESC -> eventNames = events(in);
                case PerfFeatures.HEADER_SAMPLE_TIME ->
                        sampleTime =
                                Optional.of(
                                        new SampleTimes(
                                                in.u64("first sample"), in.u64("last sample")));
                case PerfFeatures.HEADER_CLOCKID ->
                        clockResolution = OptionalLong.of(in.u64("clock resolution"));
                case PerfFeatures.HEADER_CLOCK_DATA -> clock(in);
                default -> {
                    boolean known = machine.accept(feature, in, cpusAvailable);
                    // An empty one behind the last ends the features of a pipe.
                    if (!known && content.byteSize() > 0) {
                        notes.add("feature " + feature + " is unknown: skipped");
                    }
                    if (!known) {
                        return;
                    }
                }
            }
            present.add(feature);
        } catch (MalformedInputException e) {
            notes.add("feature " + feature + " left out: " + e.getMessage());
        }
    }

    /** TRACING_DATA, a section or what follows the record of a pipe. */
    void tracing(MemorySegment content) throws MalformedInputException {
        if (content.byteSize() > MOST_TRACING_BYTES) {
            throw new MalformedInputException(
                    PerfHeader.FORMAT, "tracing data", -1, content.byteSize() + " bytes");
        }
        tracingData = Optional.of(TracingDataReader.read(content));
        present.add(PerfFeatures.HEADER_TRACING_DATA);
    }

    /** One or more struct perf_record_header_build_id. */
    void buildIds(FieldCursor in) throws MalformedInputException {
        present.add(PerfFeatures.HEADER_BUILD_ID);
        while (in.remaining() >= BUILD_ID_BYTES) {
            long start = in.position();
            in.u32("build id type");
            int misc = in.u16("build id misc");
            int size = in.u16("build id record size");
            int pid = in.s32("build id pid");
            byte[] id = in.bytes("build id", BuildId.MAX_BYTES);
            int idBytes = in.u8("build id size");
            in.bytes("build id padding", 3);
            if (size < BUILD_ID_BYTES) {
                throw in.malformed("build id record size", Integer.toString(size));
            }
            byte[] path = in.bytes("build id path", size - BUILD_ID_BYTES);
            boolean sized = (misc & PerfAbi.PERF_RECORD_MISC_EXT_RESERVED) != 0;
            int length = sized ? Math.min(idBytes, BuildId.MAX_BYTES) : BuildId.MAX_BYTES;
            int mode = misc & PerfAbi.PERF_RECORD_MISC_CPUMODE_MASK;
            buildIds.add(
                    new BuildId(
                            pid,
                            mode == PerfAbi.PERF_RECORD_MISC_KERNEL,
                            HexFormat.of().formatHex(id, 0, length),
                            untilNul(path)));
            in.seek("build id", start + size);
        }
    }

    private void clock(FieldCursor in) throws MalformedInputException {
        int version = in.s32("clock data version");
        if (version != 1) {
            notes.add("clock data of version " + version + " left out");
            return;
        }
        clockData =
                Optional.of(
                        new ClockData(
                                in.s32("clockid"), in.u64("wall clock"), in.u64("clock time")));
    }

    private List<AttrEntry> events(FieldCursor in) throws MalformedInputException {
        int count = in.bounded("events", in.u32("events"), MOST_STRINGS);
        int attrBytes = in.bounded("attr size", in.u32("attr size"), 4096);
        if (attrBytes < PerfAbi.PERF_ATTR_SIZE_VER0) {
            throw in.malformed("attr size", Integer.toString(attrBytes));
        }
        List<AttrEntry> events = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            PerfAttr attr = attr(in.bytes("attr", attrBytes), order);
            int ids = in.bounded("ids", in.u32("ids"), in.remaining() / 8);
            String name = string(in);
            long[] values = new long[in.bounded("ids", ids, in.remaining() / 8)];
            for (int j = 0; j < values.length; j++) {
                values[j] = in.u64("id");
            }
            events.add(new AttrEntry(attr, values, name));
        }
        return events;
    }

    static List<String> strings(FieldCursor in) throws MalformedInputException {
        int count = in.bounded("strings", in.u32("strings"), MOST_STRINGS);
        List<String> strings = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            strings.add(string(in));
        }
        return strings;
    }

    /** u32 length with padding, then the text ended by NUL. */
    static String string(FieldCursor in) throws MalformedInputException {
        int size = in.bounded("string length", in.u32("string length"), MOST_STRING_BYTES);
        return untilNul(in.bytes("string", size));
    }

    static String untilNul(byte[] bytes) {
        int length = 0;
        while (length < bytes.length && bytes[length] != 0) {
            length++;
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }

    /** The struct as it lies in a file; an attr's own size field says how much of it counts. */
    static PerfAttr attr(byte[] bytes, ByteOrder order) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(order);
        int stated = buffer.getInt(4);
        int size = stated <= 0 ? PerfAbi.PERF_ATTR_SIZE_VER0 : stated;
        buffer.limit(Math.min(size, bytes.length));
        return PerfAttr.decode(buffer);
    }
}
