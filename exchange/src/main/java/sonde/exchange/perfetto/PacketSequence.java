package sonde.exchange.perfetto;

import java.util.HashMap;
import java.util.Map;
import sonde.binary.MalformedInputException;
import sonde.exchange.ProtoReader;
import sonde.recording.LongList;

/** What the packets of one writer refer to: interned data and defaults (interned_data.proto). */
final class PacketSequence {
    private static final String[] COUNTERS =
            ("0 cpu-clock page-faults task-clock context-switches cpu-migrations minor-faults"
                            + " major-faults alignment-faults emulation-faults cycles instructions"
                            + " cache-references cache-misses branches branch-misses bus-cycles"
                            + " stalled-cycles-frontend stalled-cycles-backend ref-cycles dummy")
                    .split(" ");

    final long id;
    final Map<Long, String> categories = new HashMap<>();
    final Map<Long, String> eventNames = new HashMap<>();
    final Map<Long, String> annotationNames = new HashMap<>();
    final Map<Long, String> annotationStrings = new HashMap<>();
    final Map<Long, String> functionNames = new HashMap<>();
    final Map<Long, String> mappingPaths = new HashMap<>();
    final Map<Long, String> buildIds = new HashMap<>();
    final Map<Long, String> kernelSymbols = new HashMap<>();
    final Map<Long, InternedMapping> mappings = new HashMap<>();
    final Map<Long, CodeFrame> frames = new HashMap<>();
    final Map<Long, long[]> callstacks = new HashMap<>();
    final Map<Long, Long> clockNow = new HashMap<>();

    /** Numbers of call chains in the store, by callstack. */
    final Map<Long, Integer> chains = new HashMap<>();

    long defaultClock;
    long defaultTrack;
    LongList defaultCounterTracks = new LongList();
    String sampleEvent = "cpu-clock";
    long samplePeriod = 1;
    int pid = -1;
    int tid = -1;
    long referenceMicros;

    PacketSequence(long id) {
        this.id = id;
    }

    /** A mapped file. */
    record InternedMapping(String path, String buildId) {}

    /** A place in code. */
    record CodeFrame(long function, long mapping, long relativePc) {}

    /** Forgets what SEQ_INCREMENTAL_STATE_CLEARED says nobody may refer to any more. */
    void clear() {
        categories.clear();
        eventNames.clear();
        annotationNames.clear();
        annotationStrings.clear();
        functionNames.clear();
        mappingPaths.clear();
        buildIds.clear();
        kernelSymbols.clear();
        mappings.clear();
        frames.clear();
        callstacks.clear();
        chains.clear();
        clockNow.clear();
        defaultClock = 0;
        defaultTrack = 0;
        defaultCounterTracks = new LongList();
    }

    /** Takes InternedData. */
    void intern(ProtoReader data) throws MalformedInputException {
        while (data.next()) {
            if (data.wire() == ProtoReader.LENGTH) {
                intern(data.field(), data.message());
            }
        }
    }

    private void intern(int field, ProtoReader entry) throws MalformedInputException {
        switch (field) {
            case 1 -> text(entry, categories);
            case 2 -> text(entry, eventNames);
            case 3 -> text(entry, annotationNames);
            case 29 -> text(entry, annotationStrings);
            case 5 -> text(entry, functionNames);
            case 17 -> text(entry, mappingPaths);
            case 16 -> text(entry, buildIds);
            case 26 -> text(entry, kernelSymbols);
            case 19 -> mapping(entry);
            case 6 -> frame(entry);
            case 7 -> callstack(entry);
            default -> {}
        }
    }

    /** InternedString, EventName, EventCategory, DebugAnnotationName: 1 iid, 2 the text. */
    static void text(ProtoReader entry, Map<Long, String> into) throws MalformedInputException {
        long iid = 0;
        String text = "";
        while (entry.next()) {
            if (entry.field() == 1) {
                iid = entry.value();
            } else if (entry.field() == 2) {
                text = entry.text();
            }
        }
        into.put(iid, text);
    }

    /** profile_common.proto Mapping. */
    void mapping(ProtoReader entry) throws MalformedInputException {
        long iid = 0;
        long build = 0;
        StringBuilder path = new StringBuilder();
        while (entry.next()) {
            switch (entry.field()) {
                case 1 -> iid = entry.value();
                case 2 -> build = entry.value();
                case 7 -> {
                    LongList parts = new LongList();
                    entry.integers(parts);
                    for (int i = 0; i < parts.size() && path.length() < 1 << 16; i++) {
                        String part = mappingPaths.getOrDefault(parts.at(i), "");
                        path.append(part.startsWith("/") || part.startsWith("[") ? "" : "/");
                        path.append(part);
                    }
                }
                default -> {}
            }
        }
        mappings.put(iid, new InternedMapping(path.toString(), buildIds.getOrDefault(build, "")));
    }

    /** profile_common.proto Frame. */
    void frame(ProtoReader entry) throws MalformedInputException {
        long iid = 0;
        long function = 0;
        long mapping = 0;
        long pc = 0;
        while (entry.next()) {
            switch (entry.field()) {
                case 1 -> iid = entry.value();
                case 2 -> function = entry.value();
                case 3 -> mapping = entry.value();
                case 4 -> pc = entry.value();
                default -> {}
            }
        }
        frames.put(iid, new CodeFrame(function, mapping, pc));
    }

    /** profile_common.proto Callstack; bottom frame first. */
    void callstack(ProtoReader entry) throws MalformedInputException {
        long iid = 0;
        LongList ids = new LongList();
        while (entry.next()) {
            if (entry.field() == 1) {
                iid = entry.value();
            } else if (entry.field() == 2) {
                entry.integers(ids);
            }
        }
        callstacks.put(iid, ids.toArray());
        chains.remove(iid);
    }

    /** TracePacketDefaults (trace_packet_defaults.proto). */
    void defaults(ProtoReader message) throws MalformedInputException {
        while (message.next()) {
            switch (message.field()) {
                case 58 -> defaultClock = message.value();
                case 11 -> trackDefaults(message.message());
                case 12 -> sampleDefaults(message.message());
                default -> {}
            }
        }
    }

    private void trackDefaults(ProtoReader message) throws MalformedInputException {
        defaultCounterTracks = new LongList();
        while (message.next()) {
            if (message.field() == 11) {
                defaultTrack = message.value();
            } else if (message.field() == 31) {
                message.integers(defaultCounterTracks);
            }
        }
    }

    private void sampleDefaults(ProtoReader message) throws MalformedInputException {
        while (message.next()) {
            if (message.field() == 1) {
                timebase(message.message());
            }
        }
    }

    /** perf_events.proto Timebase. */
    private void timebase(ProtoReader base) throws MalformedInputException {
        long frequency = 0;
        long period = 0;
        String name = "";
        String counter = "cpu-clock";
        while (base.next()) {
            switch (base.field()) {
                case 1 -> period = base.value();
                case 2 -> frequency = base.value();
                case 3 -> {
                    ProtoReader tracepoint = base.message();
                    while (tracepoint.next()) {
                        if (tracepoint.field() == 1) {
                            counter = tracepoint.text();
                        }
                    }
                }
                case 4 -> counter = counter((int) base.value());
                case 5 -> counter = "raw";
                case 10 -> name = base.text();
                default -> {}
            }
        }
        sampleEvent = name.isEmpty() ? counter : name;
        boolean clock = counter.equals("cpu-clock") || counter.equals("task-clock");
        samplePeriod = Math.max(1, period);
        if (period <= 0 && frequency > 0 && clock) {
            samplePeriod = Math.max(1, 1_000_000_000 / frequency);
        }
    }

    /** perf_events.proto PerfEvents.Counter, in perf's spelling. */
    static String counter(int number) {
        return number > 0 && number < COUNTERS.length ? COUNTERS[number] : "counter-" + number;
    }
}
