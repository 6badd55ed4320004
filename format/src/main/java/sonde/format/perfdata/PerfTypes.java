package sonde.format.perfdata;

import static sonde.format.perfdata.PerfEvent.HEADER_BYTES;
import static sonde.format.perfdata.PerfEvent.PERF_RECORD_HEADER_ATTR;
import static sonde.format.perfdata.PerfEvent.PERF_RECORD_LOST;
import static sonde.format.perfdata.PerfEvent.PERF_RECORD_LOST_SAMPLES;
import static sonde.format.perfdata.PerfEvent.PERF_RECORD_SAMPLE;
import static sonde.format.perfdata.PerfEvent.PERF_RECORD_THROTTLE;
import static sonde.format.perfdata.PerfEvent.PERF_RECORD_UNTHROTTLE;
import static sonde.format.perfdata.PerfEvent.PERF_SAMPLE_RAW;
import static sonde.format.perfdata.PerfEvent.PERF_TYPE_HARDWARE;
import static sonde.format.perfdata.PerfEvent.PERF_TYPE_SOFTWARE;
import static sonde.format.perfdata.PerfEvent.PERF_TYPE_TRACEPOINT;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.format.MalformedInputException;
import sonde.format.ftrace.EventFormat;

/**
 * Numbers the event types of a perf.data: notices, then the kernel's records, then a type for each
 * attr.
 */
final class PerfTypes {
    static final int LOST = 0;
    static final int THROTTLE = 1;
    static final int UNTHROTTLE = 2;
    static final int CORRUPT = 3;

    private static final List<String> HARDWARE =
            List.of(
                    "cycles",
                    "instructions",
                    "cache-references",
                    "cache-misses",
                    "branches",
                    "branch-misses",
                    "bus-cycles",
                    "stalled-cycles-frontend",
                    "stalled-cycles-backend",
                    "ref-cycles");
    private static final List<String> SOFTWARE =
            List.of(
                    "cpu-clock",
                    "task-clock",
                    "page-faults",
                    "context-switches",
                    "cpu-migrations",
                    "minor-faults",
                    "major-faults",
                    "alignment-faults",
                    "emulation-faults",
                    "dummy",
                    "bpf-output",
                    "cgroup-switches");

    private final List<EventType> types = new ArrayList<>();
    private final int[] typeOfRecord = new int[PERF_RECORD_HEADER_ATTR];
    private final int[] bytesOfRecord = new int[PERF_RECORD_HEADER_ATTR];
    private final int[] typeOfAttr;
    private final int[] fixedBytesOfAttr;

    /**
     * @param attrs with their names
     * @param tracing formats of tracepoints, if the file has them
     * @param notes where formats that cannot be read are reported
     */
    PerfTypes(List<AttrEntry> attrs, Optional<TracingData> tracing, List<String> notes) {
        for (String notice : List.of("lost", "throttle", "unthrottle", "corrupt")) {
            types.add(new EventType(types.size(), EventType.NOTICE, notice, List.of(), ""));
        }
        Arrays.fill(typeOfRecord, -1);
        bytesOfRecord[PERF_RECORD_SAMPLE] = HEADER_BYTES;
        notice(PERF_RECORD_LOST, LOST, 24);
        notice(PERF_RECORD_LOST_SAMPLES, LOST, 16);
        notice(PERF_RECORD_THROTTLE, THROTTLE, 32);
        notice(PERF_RECORD_UNTHROTTLE, UNTHROTTLE, 32);
        RecordFields.ALL.forEach(this::record);
        typeOfAttr = new int[attrs.size()];
        fixedBytesOfAttr = new int[attrs.size()];
        Map<Long, Tracepoint> formats = formats(tracing, notes);
        List<String> names = shortNames(attrs);
        for (int i = 0; i < typeOfAttr.length; i++) {
            attr(i, attrs.get(i).attr(), names.get(i), formats);
        }
    }

    List<EventType> types() {
        return types;
    }

    /** Type of a kernel record; -1 for samples and for numbers unknown here. */
    int ofRecord(int recordType) {
        return typeOfRecord[recordType];
    }

    /** Bytes that a kernel record must have, header included, trailer not. */
    int leastBytes(int recordType) {
        return bytesOfRecord[recordType];
    }

    /** Type of the samples of an attr. */
    int ofAttr(int attr) {
        return typeOfAttr[attr];
    }

    /** Bytes that RAW of an attr's samples must have. */
    int leastRawBytes(int attr) {
        return fixedBytesOfAttr[attr];
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

    private void attr(int index, PerfAttr attr, String name, Map<Long, Tracepoint> formats) {
        String system = "perf";
        String event = name;
        List<Field> fields = List.of();
        String print = "";
        if (attr.type() == PERF_TYPE_TRACEPOINT) {
            Tracepoint tracepoint = formats.get(attr.config());
            int colon = name.indexOf(':');
            if (tracepoint != null) {
                system = tracepoint.system();
                event = tracepoint.format().name();
                print = tracepoint.format().printFormat();
                if (attr.samples(PERF_SAMPLE_RAW)) {
                    fields = tracepoint.format().fields();
                    fixedBytesOfAttr[index] = tracepoint.format().fixedBytes();
                }
            } else if (colon > 0) {
                system = name.substring(0, colon);
                event = name.substring(colon + 1);
            }
        }
        for (EventType type : types) {
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

    /** A format and the system it stood under. */
    private record Tracepoint(String system, EventFormat format) {}

    private static Map<Long, Tracepoint> formats(
            Optional<TracingData> tracing, List<String> notes) {
        Map<Long, Tracepoint> formats = new HashMap<>();
        if (tracing.isEmpty()) {
            return formats;
        }
        int longBytes = tracing.get().longBytes() == 4 ? 4 : 8;
        for (TracingData.Format text : tracing.get().formats()) {
            try {
                EventFormat format = EventFormat.parse(text.text(), longBytes);
                formats.putIfAbsent((long) format.id(), new Tracepoint(text.system(), format));
            } catch (MalformedInputException e) {
                notes.add("a format of " + text.system() + " left out: " + e.getMessage());
            }
        }
        return formats;
    }

    /**
     * Names without perf's modifiers ({@code cycles:u} is {@code cycles}), unless two events would
     * then have the same.
     */
    private static List<String> shortNames(List<AttrEntry> attrs) {
        List<String> full = new ArrayList<>();
        Map<String, Integer> uses = new HashMap<>();
        for (AttrEntry entry : attrs) {
            String name = entry.name().isEmpty() ? conventional(entry.attr()) : entry.name();
            full.add(name);
            uses.merge(withoutModifiers(name), 1, Integer::sum);
        }
        List<String> names = new ArrayList<>();
        for (String name : full) {
            String bare = withoutModifiers(name);
            names.add(uses.getOrDefault(bare, 0) == 1 ? bare : name);
        }
        return names;
    }

    private static String withoutModifiers(String name) {
        return name.replaceFirst("(?<=[^:]):[ukhGHpPSDIWeb]+$", "");
    }

    private static String conventional(PerfAttr attr) {
        List<String> names =
                switch (attr.type()) {
                    case PERF_TYPE_HARDWARE -> HARDWARE;
                    case PERF_TYPE_SOFTWARE -> SOFTWARE;
                    default -> List.of();
                };
        long config = attr.config();
        if (config >= 0 && config < names.size()) {
            return names.get((int) config);
        }
        return String.format("type%d-0x%x", attr.type(), config);
    }
}
