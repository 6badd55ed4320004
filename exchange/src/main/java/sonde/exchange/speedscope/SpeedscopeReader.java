package sonde.exchange.speedscope;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.event.Clock;
import sonde.event.Recording;
import sonde.event.result.Frame;
import sonde.recording.LongList;
import sonde.recording.RowStore;
import sonde.recording.TraceRows;
import sonde.recording.TraceRows.RowOrigin;
import sonde.recording.TraceRows.TracedSlice;
import sonde.recording.json.JsonTree;

/**
 * Reads profiles: evented ones as slices, sampled ones as samples, each with its number as thread.
 * Values in units of time are nanoseconds here; samples lie one behind the other by their weights.
 */
public final class SpeedscopeReader {
    static final String FORMAT = "speedscope";
    private static final String SCHEMA = "speedscope.app/file-format-schema.json";

    private final RowStore store = new RowStore();
    private final TraceRows rows = new TraceRows(store);
    private final List<String> notes = new ArrayList<>();
    private final List<Frame> frames = new ArrayList<>();

    private SpeedscopeReader() {}

    /** Whether it names the schema, or has what a file must have. */
    public static boolean isSpeedscope(Input input) {
        if (JsonTree.begins(input, 4096, Set.of(SCHEMA))) {
            return true;
        }
        String head = JsonTree.head(input, 1 << 16);
        boolean profiles = head.contains("\"type\"") && head.contains("\"profiles\"");
        boolean named = head.contains("\"evented\"") || head.contains("\"sampled\"");
        if (!head.stripLeading().startsWith("{")) {
            return false;
        }
        return profiles && named && head.contains("\"shared\"") || tail(input).contains(SCHEMA);
    }

    private static String tail(Input input) {
        long from = Math.max(0, input.sizeBytes() - 4096);
        return JsonTree.head(Input.of("tail", input.segment().asSlice(from)), 4096);
    }

    /**
     * Reads a file; the input may be closed afterwards.
     *
     * @throws MalformedInputException when it is none, or no whole JSON
     */
    public static Recording open(Input input) throws IOException {
        JsonTree file = JsonTree.read(FORMAT, input);
        if (!file.at("profiles").isArray() || file.at("shared").isNull()) {
            throw new MalformedInputException(FORMAT, "profiles", -1, "missing");
        }
        SpeedscopeReader reader = new SpeedscopeReader();
        return reader.store.filled(() -> reader.read(file));
    }

    private Recording read(JsonTree file) {
        rows.counts("samples");
        JsonTree shared = file.at("shared").at("frames");
        for (int i = 0; i < shared.size(); i++) {
            JsonTree frame = shared.at(i);
            frames.add(new Frame(frame.text("name"), frame.text("file"), Frame.Kind.USER));
        }
        JsonTree profiles = file.at("profiles");
        for (int i = 0; i < profiles.size(); i++) {
            JsonTree profile = profiles.at(i);
            double start = profile.number("startValue", 0);
            String unit = profile.text("unit");
            double scale = scale(unit);
            int thread = i + 1; // 0 is the idle task
            RowOrigin place = new RowOrigin(Math.round(start * scale), -1, -1, thread);
            rows.thread(new RowOrigin(place.time(), -1, 0, thread), profile.text("name"));
            switch (profile.text("type")) {
                case "evented" -> evented(profile, thread, scale);
                case "sampled" -> {
                    rows.metadata(place, "unit:" + event(unit), time(unit) ? "nanoseconds" : unit);
                    sampled(profile, thread, scale, start);
                }
                default -> notes.add("a profile of type " + profile.text("type") + " left out");
            }
        }
        return store.recording(FORMAT, Clock.UNKNOWN, notes);
    }

    private static boolean time(String unit) {
        return unit.endsWith("seconds");
    }

    private static double scale(String unit) {
        return switch (unit) {
            case "microseconds" -> 1e3;
            case "milliseconds" -> 1e6;
            case "seconds" -> 1e9;
            default -> 1;
        };
    }

    private static String event(String unit) {
        return time(unit) ? "cpu-clock" : unit.equals("bytes") ? "bytes" : "samples";
    }

    private Frame frame(int index) {
        return index >= 0 && index < frames.size()
                ? frames.get(index)
                : Frame.label("frame " + index);
    }

    private void evented(JsonTree profile, int thread, double scale) {
        JsonTree events = profile.at("events");
        for (int i = 0; i < events.size(); i++) {
            JsonTree event = events.at(i);
            long time = Math.round(event.number("at", 0) * scale);
            Frame frame = frame((int) event.number("frame", -1));
            RowOrigin place = new RowOrigin(time, -1, 0, thread);
            TracedSlice slice = new TracedSlice(thread, frame.name(), frame.module(), "", "");
            switch (event.text("type")) {
                case "O" -> rows.begin(place, slice);
                case "C" -> rows.end(place, slice);
                default -> rows.corrupt(time);
            }
        }
    }

    private void sampled(JsonTree profile, int thread, double scale, double start) {
        JsonTree samples = profile.at("samples");
        JsonTree weights = profile.at("weights");
        String unit = profile.text("unit");
        double at = start;
        for (int i = 0; i < samples.size(); i++) {
            JsonTree stack = samples.at(i);
            LongList entries = new LongList();
            for (int j = stack.size() - 1; j >= 0; j--) {
                entries.add(store.frame(frame(stack.index(j))));
            }
            double weight = weights.number(i, 1);
            int chain = store.chain(entries.toArray());
            RowOrigin place = new RowOrigin(Math.round(at * scale), -1, 0, thread);
            rows.sample(place, event(unit), Math.round(weight * scale), chain);
            at += weight;
        }
    }
}
