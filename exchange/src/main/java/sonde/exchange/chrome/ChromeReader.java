package sonde.exchange.chrome;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
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
 * Reads a trace event by event. Times are microseconds in the file and nanoseconds here. An array
 * that is not closed is whole: programs that are killed leave it so.
 */
public final class ChromeReader {
    static final String FORMAT = "chrome";
    private static final int HEAD_BYTES = 1 << 16;
    private static final int MOST_FRAMES = 1000;

    /** PID_MAX_LIMIT of include/linux/threads.h: ids beyond are nobody's elsewhere. */
    private static final int MOST_IDS = 4 * 1024 * 1024;

    private final RowStore store = new RowStore();
    private final TraceRows rows = new TraceRows(store);
    private final List<String> notes = new ArrayList<>();
    private final Map<String, StackFrame> frames = new HashMap<>();
    private final List<JsonTree> waiting = new ArrayList<>();
    private final List<JsonTree> samples = new ArrayList<>();
    private final List<JsonTree> timeless = new ArrayList<>();
    private final Map<String, Long> unknown = new TreeMap<>();
    private final Map<String, Integer> numbers = new HashMap<>();
    private final Map<Integer, Integer> owners = new HashMap<>();
    private final Map<Integer, String> threads = new TreeMap<>();
    private final Map<Integer, String> processes = new TreeMap<>();
    private final Map<String, String> others = new TreeMap<>();
    private long first = Long.MAX_VALUE;
    private long base;

    private record StackFrame(String name, String category, String parent) {}

    private ChromeReader() {}

    /** Whether it begins as a list of events with phases, or as an object that has one. */
    public static boolean isChrome(Input input) {
        String head = JsonTree.head(input, HEAD_BYTES).stripLeading();
        if (head.startsWith("[")) {
            String next = head.substring(1).stripLeading();
            return next.startsWith("{") && head.contains("\"ph\"");
        }
        return head.startsWith("{") && deep(input);
    }

    /** An object may have its list behind other members: they are skipped. */
    private static boolean deep(Input input) {
        try (JsonParser parser = JsonTree.parser(input.segment())) {
            parser.nextToken();
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                if (parser.currentName().equals("traceEvents")) {
                    return true;
                }
                parser.nextToken();
                parser.skipChildren();
            }
        } catch (IOException | RuntimeException e) {
            return false;
        }
        return false;
    }

    /**
     * Reads a trace; the input may be closed afterwards.
     *
     * @throws MalformedInputException when it is none
     */
    public static Recording open(Input input) throws IOException {
        if (!isChrome(input)) {
            throw new MalformedInputException(FORMAT, "traceEvents", 0, "no list of events");
        }
        ChromeReader reader = new ChromeReader();
        return reader.store.filled(() -> reader.read(input));
    }

    private Recording read(Input input) throws IOException {
        String broken = "";
        try (JsonParser parser = JsonTree.parser(input.segment())) {
            JsonToken start = parser.nextToken();
            if (start == JsonToken.START_ARRAY) {
                events(parser);
            } else {
                object(parser);
            }
        } catch (IOException | RuntimeException e) {
            broken = JsonTree.firstLine(e);
        }
        waiting.forEach(this::event);
        long begin = first == Long.MAX_VALUE ? 0 : first;
        timeless.forEach(event -> metadata(event, begin));
        samples.forEach(this::sample);
        threads.forEach((tid, name) -> {
            if (!name.isEmpty()) {
                rows.thread(new RowOrigin(begin, -1, -1, tid), name);
            }
        });
        processes.forEach((pid, name) -> rows.process(new RowOrigin(begin, -1, pid, -1), -1, name));
        RowOrigin whole = new RowOrigin(begin, -1, -1, -1);
        others.forEach((name, value) -> rows.metadata(whole, name, value));
        if (!broken.isEmpty() && !broken.contains("end-of-input")) {
            notes.add("The file is damaged behind its first events: " + broken + ".");
            rows.corrupt(begin);
        }
        unknown.forEach((phase, count) ->
                notes.add(count + " events of phase " + phase + " are not read."));
        return store.recording(FORMAT, Clock.MONO, notes);
    }

    private void object(JsonParser parser) throws IOException {
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String name = parser.currentName();
            JsonToken value = parser.nextToken();
            switch (name) {
                case "traceEvents" -> {
                    if (value == JsonToken.START_ARRAY) {
                        events(parser);
                    }
                }
                case "stackFrames" -> stackFrames(JsonTree.of(parser));
                case "samples" -> {
                    JsonTree list = JsonTree.of(parser);
                    for (int i = 0; i < list.size(); i++) {
                        samples.add(list.at(i));
                    }
                }
                case "displayTimeUnit" -> {}
                default -> {
                    JsonTree other = JsonTree.of(parser);
                    if (name.equals("otherData")) {
                        // Our own writer's: what was taken off every time.
                        base = parsed(other.text("base_nanos"));
                    }
                    String text = other.isText() ? other.text() : other.json();
                    if (!text.isEmpty() && text.length() < 1 << 16) {
                        others.put(name, text);
                    }
                }
            }
        }
    }

    private static long parsed(String number) {
        try {
            return Long.parseLong(number);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private void stackFrames(JsonTree dictionary) {
        for (String id : dictionary.keys()) {
            JsonTree frame = dictionary.at(id);
            frames.put(
                    id,
                    new StackFrame(
                            frame.text("name"), frame.text("category"), frame.text("parent")));
        }
    }

    private void events(JsonParser parser) throws IOException {
        for (JsonToken token = parser.nextToken();
                token != null && token != JsonToken.END_ARRAY;
                token = parser.nextToken()) {
            JsonTree event = JsonTree.of(parser);
            if (event.isObject()) {
                // Stack frames may stand behind the events that name them.
                boolean waits = frames.isEmpty() && !event.at("sf").isNull();
                if (waits && waiting.size() < 100_000) {
                    waiting.add(event);
                } else {
                    event(event);
                }
            }
        }
    }

    private static long nanos(JsonTree micros, long otherwise) {
        double value = micros.number(Double.NaN);
        if (Double.isNaN(value)) {
            return otherwise;
        }
        // Whole microseconds are exact; so are fractions of three digits.
        double whole = Math.floor(value);
        return (long) whole * 1000 + Math.round((value - whole) * 1000);
    }

    /** A process: a number, or a text that gets one of its own. */
    private int process(JsonTree id) {
        int number = number(id);
        if (id.isNull() || number >= 0) {
            return number;
        }
        int own = own(id.text());
        processes.put(own, id.text());
        return own;
    }

    /** A number that can be a thread's or process's id, else -1. */
    private static int number(JsonTree id) {
        double number = id.isNull() ? -1 : id.number(-1);
        return number >= 0 && number < MOST_IDS && number == Math.rint(number) ? (int) number : -1;
    }

    /**
     * A thread. Ids are a process's own here, and need be no numbers; where another process has the
     * number already, or it means the idle task elsewhere, the thread gets one from the far end.
     */
    private int thread(int pid, JsonTree id) {
        int number = number(id);
        if (id.isNull()) {
            return -1;
        }
        if (pid < 0 && number >= 0) {
            return number; // samples of all CPUs name no process
        }
        boolean idle = number == 0 && pid != 0;
        if (number >= 0 && !idle && owners.size() < MOST_IDS) {
            Integer owner = owners.putIfAbsent(number, pid);
            if (owner == null || owner == pid) {
                return number;
            }
        }
        int own = own(pid + "|" + id.text());
        if (number < 0) {
            threads.putIfAbsent(own, id.text());
        }
        return own;
    }

    private int own(String key) {
        Integer known = numbers.get(key);
        if (known != null || numbers.size() >= MOST_IDS / 2) {
            return known == null ? -1 : known;
        }
        int number = MOST_IDS - 1 - numbers.size();
        numbers.put(key, number);
        return number;
    }

    private void event(JsonTree event) {
        String phase = event.text("ph");
        if (phase.equals("M")) {
            if (timeless.size() < 100_000) {
                timeless.add(event);
            }
            return;
        }
        long time = base + nanos(event.at("ts"), 0);
        first = Math.min(first, time);
        int pid = process(event.at("pid"));
        int tid = thread(pid, event.at("tid"));
        RowOrigin place = new RowOrigin(time, -1, pid, tid);
        String id = id(event);
        String args = event.at("args").json();
        String name = event.text("name");
        String category = event.text("cat");
        long own = (long) pid << 32 | tid & 0xffff_ffffL;
        long track = id.isEmpty() ? own : (category + id).hashCode() & 0xffff_ffffL;
        TracedSlice slice =
                new TracedSlice(track, name, category, id, args.equals("{}") ? "" : args);
        TracedSlice ofThread = new TracedSlice(own, name, category, "", slice.args());
        switch (phase) {
            case "B" -> rows.begin(place, ofThread);
            case "E" -> rows.end(place, ofThread);
            case "X" -> {
                long dur = nanos(event.at("dur"), 0);
                rows.complete(place, ofThread, Math.max(0, dur));
            }
            case "i", "I", "R", "P" -> rows.instant(place, ofThread, chain(event));
            case "C" -> counter(event, place, name, id);
            case "b", "S" -> rows.begin(place, slice);
            case "e", "F" -> rows.end(place, slice);
            case "n", "T", "p" -> rows.instant(place, slice, 0);
            case "s", "t", "f" -> rows.flow(place, slice, phase.charAt(0));
            default -> unknown.merge(phase.isEmpty() ? "(none)" : phase, 1L, Long::sum);
        }
        if (!event.at("bind_id").isNull() && phase.equals("X")) {
            TracedSlice flow = new TracedSlice(own, name, category, event.text("bind_id"), "");
            boolean in = event.at("flow_in").json().equals("true");
            rows.flow(place, flow, in ? 'f' : 's');
        }
    }

    private static String id(JsonTree event) {
        JsonTree two = event.at("id2");
        String id = event.text("id");
        if (!two.isNull()) {
            id = two.text("global");
            id = id.isEmpty() ? event.text("pid") + ":" + two.text("local") : id;
        }
        String scope = event.text("scope");
        return scope.isEmpty() || id.isEmpty() ? id : scope + ":" + id;
    }

    private void counter(JsonTree event, RowOrigin place, String name, String id) {
        JsonTree values = event.at("args");
        for (String key : values.keys()) {
            boolean single = values.keys().size() == 1 && (key.equals("value") || key.equals(name));
            String full = single ? name : name + "." + key;
            full = id.isEmpty() ? full : full + "[" + id + "]";
            long track = (full.hashCode() & 0xffff_ffffL) << 24 ^ place.pid();
            rows.counter(place, track, full, "", values.number(key, 0));
        }
    }

    /** Callee first; {@code sf} names a frame, {@code stack} lists them. */
    private int chain(JsonTree event) {
        LongList entries = new LongList();
        String id = event.text("sf");
        for (int i = 0; i < MOST_FRAMES && !id.isEmpty(); i++) {
            StackFrame frame = frames.get(id);
            if (frame == null) {
                break;
            }
            entries.add(store.frame(new Frame(frame.name, frame.category, Frame.Kind.USER)));
            id = frame.parent;
        }
        JsonTree stack = event.at("stack");
        for (int i = 0; i < stack.size() && i < MOST_FRAMES; i++) {
            entries.add(store.frame(new Frame(stack.at(i).text(), "", Frame.Kind.USER)));
        }
        return store.chain(entries.toArray());
    }

    private void sample(JsonTree sample) {
        double cpu = sample.number("cpu", -1);
        int on = cpu >= 0 && cpu < Short.MAX_VALUE ? (int) cpu : -1;
        long time = base + nanos(sample.at("ts"), 0);
        int pid = process(sample.at("pid"));
        RowOrigin place = new RowOrigin(time, on, pid, thread(pid, sample.at("tid")));
        String name = sample.text("name");
        long weight = (long) sample.number("weight", 1);
        rows.sample(place, name.isEmpty() ? "samples" : name, weight, chain(sample));
    }

    private void metadata(JsonTree event, long time) {
        int pid = process(event.at("pid"));
        int tid = thread(pid, event.at("tid"));
        RowOrigin place = new RowOrigin(time, -1, pid, tid);
        JsonTree args = event.at("args");
        switch (event.text("name")) {
            case "thread_name" -> {
                rows.thread(place, args.text("name"));
                threads.put(tid, "");
            }
            case "process_name" ->
                    rows.process(new RowOrigin(time, -1, pid, -1), -1, args.text("name"));
            default -> rows.metadata(place, event.text("name"), args.json());
        }
    }
}
