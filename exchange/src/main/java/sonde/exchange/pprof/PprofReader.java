package sonde.exchange.pprof;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.event.Clock;
import sonde.event.Recording;
import sonde.event.result.Frame;
import sonde.exchange.ProtoReader;
import sonde.recording.LongList;
import sonde.recording.RowStore;
import sonde.recording.TraceRows;
import sonde.recording.TraceRows.RowOrigin;

/**
 * Reads a profile: a row {@code perf:TYPE} for each value of a sample that is not zero, with its
 * call chain, functions by name. All rows have the time at which the profile began; units stand in
 * {@code trace:metadata} rows.
 */
public final class PprofReader {
    static final String FORMAT = "pprof";
    private static final int MOST_FRAMES = 4096;
    private static final int MOST_INLINED = 256;

    private final TraceRows rows;
    private final RowStore store;
    private final List<String> strings = new ArrayList<>();
    private final List<long[]> sampleTypes = new ArrayList<>();
    private final Map<Long, Long> functions = new HashMap<>();
    private final Map<Long, ProfileMapping> mappings = new HashMap<>();
    private final Map<Long, long[]> locations = new HashMap<>();
    private final List<String> notes = new ArrayList<>();
    private long time;
    private long labels;

    private record ProfileMapping(long start, long offset, String file) {}

    private PprofReader(RowStore store) {
        this.store = store;
        this.rows = new TraceRows(store);
    }

    /** Whether the bytes are the fields of a Profile, its string table beginning as it must. */
    public static boolean isPprof(Input input) {
        ProtoReader profile = new ProtoReader(FORMAT, input.segment());
        int types = 0;
        boolean text = false;
        int seen = 0;
        try {
            while (profile.next() && seen++ < 10_000_000) {
                int field = profile.field();
                boolean message = field <= 6 || field == 11;
                boolean fits =
                        field == 13
                                || field <= 15
                                        && profile.wire()
                                                == (message
                                                        ? ProtoReader.LENGTH
                                                        : ProtoReader.VARINT);
                if (!fits || field == 6 && !text && profile.value() != 0) {
                    return false;
                }
                text |= field == 6;
                if (field == 1) {
                    types++;
                    ProtoReader type = profile.message();
                    while (type.next()) {
                        if (type.field() > 2 || type.wire() != ProtoReader.VARINT) {
                            return false;
                        }
                    }
                }
            }
        } catch (MalformedInputException e) {
            return false;
        }
        return types > 0 && text;
    }

    /**
     * Reads a profile; the input may be closed afterwards.
     *
     * @throws MalformedInputException when it is none
     */
    public static Recording open(Input input) throws MalformedInputException {
        if (!isPprof(input)) {
            throw new MalformedInputException(FORMAT, "sample_type", 0, "no profile");
        }
        RowStore store = new RowStore();
        return store.filled(
                () -> new PprofReader(store).read(new ProtoReader(FORMAT, input.segment())));
    }

    private Recording read(ProtoReader profile) throws MalformedInputException {
        ProtoReader strung = profile.copy();
        ProtoReader placed = profile.copy();
        ProtoReader located = profile.copy();
        while (strung.next()) {
            switch (strung.field()) {
                case 1 -> sampleTypes.add(pair(strung.message()));
                case 6 -> strings.add(strung.text());
                case 9 -> time = strung.value();
                default -> {}
            }
        }
        while (placed.next()) {
            if (placed.field() == 3) {
                mapping(placed.message());
            } else if (placed.field() == 5) {
                function(placed.message());
            }
        }
        while (located.next()) {
            if (located.field() == 4) {
                location(located.message());
            }
        }
        metadata(profile.copy());
        // pprof itself shows the last type of a CPU profile.
        for (String time : List.of("samples", "wall", "cpu")) {
            if (sampleTypes.stream().anyMatch(type -> string(type[0]).equals(time))) {
                rows.counts(time);
            }
        }
        while (profile.next()) {
            if (profile.field() == 2) {
                sample(profile.message());
            }
        }
        if (labels > 0) {
            notes.add(labels + " labels of samples are not read.");
        }
        return store.recording(FORMAT, Clock.REALTIME, notes);
    }

    private String string(long index) {
        return index >= 0 && index < strings.size() ? strings.get((int) index) : "";
    }

    /** A message of two integers. */
    private static long[] pair(ProtoReader message) throws MalformedInputException {
        long[] pair = new long[2];
        while (message.next()) {
            if (message.field() <= 2) {
                pair[message.field() - 1] = message.value();
            }
        }
        return pair;
    }

    private void metadata(ProtoReader profile) throws MalformedInputException {
        RowOrigin place = new RowOrigin(time, -1, -1, -1);
        for (long[] type : sampleTypes) {
            rows.metadata(place, "unit:" + string(type[0]), string(type[1]));
        }
        while (profile.next()) {
            switch (profile.field()) {
                case 10 -> rows.metadata(place, "duration_nanos", "" + profile.value());
                case 11 -> {
                    long[] type = pair(profile.message());
                    rows.metadata(place, "period_type", string(type[0]) + ' ' + string(type[1]));
                }
                case 12 -> rows.metadata(place, "period", "" + profile.value());
                case 13 -> {
                    LongList comments = new LongList();
                    profile.integers(comments);
                    for (int i = 0; i < comments.size(); i++) {
                        rows.metadata(place, "comment", string(comments.at(i)));
                    }
                }
                default -> {}
            }
        }
    }

    private void mapping(ProtoReader message) throws MalformedInputException {
        long[] values = new long[6];
        while (message.next()) {
            if (message.field() < values.length) {
                values[message.field()] = message.value();
            }
        }
        mappings.put(values[1], new ProfileMapping(values[2], values[4], string(values[5])));
    }

    private void function(ProtoReader message) throws MalformedInputException {
        long[] values = new long[4];
        while (message.next()) {
            if (message.field() < values.length) {
                values[message.field()] = message.value();
            }
        }
        functions.put(values[1], values[2] != 0 ? values[2] : values[3]);
    }

    /** A location stands for a function and those that were inlined, callee first. */
    private void location(ProtoReader message) throws MalformedInputException {
        long id = 0;
        long mapping = 0;
        long address = 0;
        LongList called = new LongList();
        while (message.next()) {
            switch (message.field()) {
                case 1 -> id = message.value();
                case 2 -> mapping = message.value();
                case 3 -> address = message.value();
                case 4 -> called.add(pair(message.message())[0]);
                default -> {}
            }
        }
        ProfileMapping in = mappings.getOrDefault(mapping, new ProfileMapping(0, 0, ""));
        Frame.Kind kind = in.file.startsWith("[kernel") ? Frame.Kind.KERNEL : Frame.Kind.USER;
        LongList entries = new LongList();
        for (int i = 0; i < called.size() && i < MOST_INLINED; i++) {
            String name = string(functions.getOrDefault(called.at(i), -1L));
            entries.add(store.frame(new Frame(name, in.file, kind)));
        }
        if (called.size() == 0) {
            String hex = Long.toHexString(address - in.start + in.offset);
            entries.add(store.frame(new Frame("[" + in.file + "+0x" + hex + "]", in.file, kind)));
        }
        locations.put(id, entries.toArray());
    }

    private void sample(ProtoReader message) throws MalformedInputException {
        LongList chain = new LongList();
        LongList values = new LongList();
        LongList ids = new LongList();
        int pid = -1;
        int tid = -1;
        while (message.next()) {
            switch (message.field()) {
                case 1 -> message.integers(ids);
                case 2 -> message.integers(values);
                case 3 -> {
                    long[] label = new long[5];
                    ProtoReader fields = message.message();
                    while (fields.next()) {
                        if (fields.field() < label.length) {
                            label[fields.field()] = fields.value();
                        }
                    }
                    switch (string(label[1])) {
                        case "pid" -> pid = (int) label[3];
                        case "tid", "thread_id" -> tid = (int) label[3];
                        default -> labels++;
                    }
                }
                default -> {}
            }
        }
        for (int i = 0; i < ids.size() && chain.size() < MOST_FRAMES; i++) {
            for (long entry : locations.getOrDefault(ids.at(i), new long[0])) {
                chain.add(entry);
            }
        }
        int stack = store.chain(chain.toArray());
        for (int i = 0; i < values.size() && i < sampleTypes.size(); i++) {
            if (values.at(i) != 0) {
                String type = string(sampleTypes.get(i)[0]);
                rows.sample(new RowOrigin(time, -1, pid, tid), type, values.at(i), stack);
            }
        }
    }
}
