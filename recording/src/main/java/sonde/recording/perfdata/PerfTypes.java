package sonde.recording.perfdata;

import static sonde.recording.perfdata.PerfAbi.HEADER_BYTES;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_SW_BPF_OUTPUT;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_COMPRESSED2;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_LOST;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_LOST_SAMPLES;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_SAMPLE;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_THROTTLE;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_UNTHROTTLE;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_RAW;
import static sonde.recording.perfdata.PerfAbi.PERF_TYPE_SOFTWARE;
import static sonde.recording.perfdata.PerfAbi.PERF_TYPE_TRACEPOINT;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sonde.binary.MalformedInputException;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.recording.ftrace.EventFormat;
import sonde.recording.perfdata.TracingData.TracingFormat;

/**
 * Numbers the event types of a perf.data: notices, then the kernel's records, then a type for each
 * attr.
 */
final class PerfTypes {
    private static final List<String> NOTICES =
            List.of("lost", "throttle", "unthrottle", "corrupt", "unknown");
    static final int LOST = 0;
    static final int THROTTLE = 1;
    static final int UNTHROTTLE = 2;
    static final int CORRUPT = 3;

    static final int UNKNOWN = 4;

    /** More than the highest number of a record, kernel's or perf's. */
    private static final int RECORDS = PERF_RECORD_COMPRESSED2 + 1;

    // What every ftrace record begins with, for tracepoints whose format is missing.
    private static final List<Field> COMMON =
            List.of(
                    Field.integer("common_type", 0, 2, false),
                    Field.integer("common_flags", 2, 1, false),
                    Field.integer("common_preempt_count", 3, 1, false),
                    Field.integer("common_pid", 4, 4, true));
    private static final int COMMON_BYTES = 8;

    private final List<EventType> types = new ArrayList<>();
    private final int[] typeOfRecord = new int[RECORDS];
    private final int[] bytesOfRecord = new int[RECORDS];
    private final int[] typeOfAttr;
    private final int[] fixedBytesOfAttr;
    private final SampleFields[] partsOfAttr;
    private final boolean[] rawOfAttr;
    private int counter = -1;

    /**
     * @param attrs with their names
     * @param tracing formats of tracepoints, if the file has them
     * @param notes where formats that cannot be read are reported
     */
    PerfTypes(List<AttrEntry> attrs, Optional<TracingData> tracing, List<String> notes) {
        for (String notice : NOTICES) {
            types.add(new EventType(types.size(), EventType.NOTICE, notice, List.of(), ""));
        }
        Arrays.fill(typeOfRecord, -1);
        bytesOfRecord[PERF_RECORD_SAMPLE] = HEADER_BYTES;
        notice(PERF_RECORD_LOST, LOST, 24);
        notice(PERF_RECORD_LOST_SAMPLES, LOST, 16);
        notice(PERF_RECORD_THROTTLE, THROTTLE, 32);
        notice(PERF_RECORD_UNTHROTTLE, UNTHROTTLE, 32);
        RecordFields.ALL.forEach(this::record);
        RecordFields.OF_TOOLS.forEach(this::record);
        typeOfAttr = new int[attrs.size()];
        fixedBytesOfAttr = new int[attrs.size()];
        partsOfAttr = new SampleFields[attrs.size()];
        rawOfAttr = new boolean[attrs.size()];
        Map<Long, TracepointType> formats = formats(tracing, notes);
        for (int i = 0; i < typeOfAttr.length; i++) {
            attr(i, attrs.get(i).attr(), attrs.get(i).name(), formats);
        }
    }

    List<EventType> types() {
        return types;
    }

    /** Adds the type of counts that are no samples. */
    void addCounters() {
        counter = types.size();
        types.add(new EventType(counter, "counter", "value", StatCounters.FIELDS, ""));
    }

    /** Type of counts; -1 when the recording has none. */
    int ofCounters() {
        return counter;
    }

    /** Type of a kernel record; -1 for samples and for numbers unknown here. */
    int ofRecord(int recordType) {
        return recordType > 0 && recordType < RECORDS ? typeOfRecord[recordType] : -1;
    }

    /** Bytes that a kernel record must have, header included, trailer not. */
    int leastBytes(int recordType) {
        return bytesOfRecord[recordType];
    }

    /** The same of perf's own, more than any has where they have no rows. */
    int leastBytesOrNone(int recordType) {
        return ofRecord(recordType) < 0 ? Integer.MAX_VALUE : bytesOfRecord[recordType];
    }

    /** Type of the samples of an attr. */
    int ofAttr(int attr) {
        return typeOfAttr[attr];
    }

    /** Bytes that RAW of an attr's samples must have. */
    int leastRawBytes(int attr) {
        return fixedBytesOfAttr[attr];
    }

    /** Whether the payload of an attr's samples is RAW alone; else it holds the record. */
    boolean isRaw(int attr) {
        return rawOfAttr[attr];
    }

    private void notice(int recordType, int type, int leastBytes) {
        typeOfRecord[recordType] = type;
        bytesOfRecord[recordType] = leastBytes;
    }

    private void record(RecordFields record) {
        typeOfRecord[record.type()] = types.size();
        bytesOfRecord[record.type()] = record.leastBytes();
        types.add(
                new EventType(
                        types.size(), EventType.PERF_RECORD, record.name(), record.fields(), ""));
    }

    private void attr(int index, PerfAttr attr, String name, Map<Long, TracepointType> formats) {
        TracepointType tracepoint =
                attr.type() == PERF_TYPE_TRACEPOINT ? formats.get(attr.config()) : null;
        int colon = attr.type() == PERF_TYPE_TRACEPOINT ? name.indexOf(':') : -1;
        String system = colon < 0 ? "perf" : name.substring(0, colon);
        String event = name.substring(colon + 1);
        String print = "";
        rawOfAttr[index] = isRawAlone(attr);
        SampleFields parts = rawOfAttr[index] ? SampleFields.NONE : new SampleFields(attr);
        List<Field> fields = parts.fields();
        if (tracepoint != null) {
            system = tracepoint.system();
            event = tracepoint.format().name();
            print = tracepoint.format().printFormat();
        }
        if (attr.type() == PERF_TYPE_TRACEPOINT && attr.samples(PERF_SAMPLE_RAW)) {
            fields = tracepoint == null ? COMMON : tracepoint.format().fields();
            fixedBytesOfAttr[index] =
                    tracepoint == null ? COMMON_BYTES : tracepoint.format().fixedBytes();
        }
        partsOfAttr[index] = parts;
        for (int other = 0; other < index; other++) {
            EventType type = types.get(typeOfAttr[other]);
            if (type.system().equals(system)
                    && type.name().equals(event)
                    && type.fields().equals(fields)) {
                typeOfAttr[index] = type.id();
                return;
            }
        }
        typeOfAttr[index] = types.size();
        types.add(new EventType(types.size(), system, event, fields, print));
    }

    /** Whether the payload is what RAW holds and nothing else. */
    private static boolean isRawAlone(PerfAttr attr) {
        boolean output =
                attr.type() == PERF_TYPE_SOFTWARE && attr.config() == PERF_COUNT_SW_BPF_OUTPUT;
        return attr.samples(PERF_SAMPLE_RAW) && (output || attr.type() == PERF_TYPE_TRACEPOINT);
    }

    /** What the samples of an attr carry besides columns. */
    SampleFields partsOf(int attr) {
        return partsOfAttr[attr];
    }

    /** A format and the system it stood under. */
    private record TracepointType(String system, EventFormat format) {}

    private static Map<Long, TracepointType> formats(
            Optional<TracingData> tracing, List<String> notes) {
        Map<Long, TracepointType> formats = new HashMap<>();
        if (tracing.isEmpty()) {
            return formats;
        }
        int longBytes = tracing.get().longBytes() == 4 ? 4 : 8;
        for (TracingFormat text : tracing.get().formats()) {
            try {
                EventFormat format = EventFormat.parse(text.text(), longBytes);
                formats.putIfAbsent((long) format.id(), new TracepointType(text.system(), format));
            } catch (MalformedInputException e) {
                notes.add("a format of " + text.system() + " left out: " + e.getMessage());
            }
        }
        return formats;
    }
}
