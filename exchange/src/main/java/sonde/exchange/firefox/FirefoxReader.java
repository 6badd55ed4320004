package sonde.exchange.firefox;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.event.Clock;
import sonde.event.Recording;
import sonde.recording.RowStore;
import sonde.recording.TraceRows;
import sonde.recording.TraceRows.RowOrigin;
import sonde.recording.TraceRows.TracedSlice;
import sonde.recording.json.JsonTree;

/**
 * Reads a processed profile of the versions 20 to 70: tables of a thread or shared by all, times or
 * differences of times. Markers become slices, counters counters. Times are nanoseconds from {@code
 * meta.startTime}.
 */
public final class FirefoxReader {
    static final String FORMAT = "firefox";
    private static final int INSTANT = 0;
    private static final int INTERVAL = 1;
    private static final int INTERVAL_START = 2;
    private static final int INTERVAL_END = 3;

    private final RowStore store = new RowStore();
    private final TraceRows rows = new TraceRows(store);
    private final List<String> notes = new ArrayList<>();
    private final JsonTree file;

    private FirefoxReader(JsonTree file) {
        this.file = file;
    }

    /** Whether it is an object whose meta has the version of a processed profile. */
    public static boolean isFirefox(Input input) {
        String head = JsonTree.head(input, 1 << 12).stripLeading();
        if (!head.startsWith("{")) {
            return false;
        }
        try (JsonParser parser = JsonTree.parser(input.segment())) {
            parser.nextToken();
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                boolean meta = parser.currentName().equals("meta");
                parser.nextToken();
                if (meta) {
                    return JsonTree.of(parser).keys().contains("preprocessedProfileVersion");
                }
                parser.skipChildren();
            }
        } catch (IOException | RuntimeException e) {
            return false;
        }
        return false;
    }

    /**
     * Reads a profile; the input may be closed afterwards.
     *
     * @throws MalformedInputException when it is none, or no whole JSON
     */
    public static Recording open(Input input) throws IOException {
        JsonTree file = JsonTree.read(FORMAT, input);
        if (file.at("meta").at("preprocessedProfileVersion").isNull()) {
            throw new MalformedInputException(
                    FORMAT, "meta.preprocessedProfileVersion", -1, "missing");
        }
        FirefoxReader reader = new FirefoxReader(file);
        return reader.store.filled(() -> reader.read());
    }

    private Recording read() {
        rows.counts("samples");
        JsonTree meta = file.at("meta");
        RowOrigin whole = new RowOrigin(0, -1, -1, -1);
        for (String key : List.of("product", "startTime", "interval", "oscpu", "arguments")) {
            String text = meta.text(key);
            if (!text.isEmpty()) {
                rows.metadata(whole, key, text);
            }
        }
        JsonTree threads = file.at("threads");
        for (int i = 0; i < threads.size(); i++) {
            thread(threads.at(i), i);
        }
        JsonTree counters = file.at("counters");
        for (int i = 0; i < counters.size(); i++) {
            counter(counters.at(i), i);
        }
        return store.recording(FORMAT, Clock.MONO, notes);
    }

    private static int number(JsonTree id, int otherwise) {
        // A tid that was used twice is written "123.1".
        double number = id.number(otherwise);
        return Math.abs(number) <= Integer.MAX_VALUE ? (int) number : otherwise;
    }

    private static long nanos(double millis) {
        return Math.round(millis * 1e6);
    }

    private void thread(JsonTree thread, int index) {
        int tid = number(thread.at("tid"), index);
        int pid = number(thread.at("pid"), -1);
        RowOrigin place = new RowOrigin(nanos(thread.number("registerTime", 0)), -1, pid, tid);
        rows.thread(place, thread.text("name"));
        if (!thread.text("processName").isEmpty()) {
            rows.process(new RowOrigin(place.time(), -1, pid, -1), -1, thread.text("processName"));
        }
        FirefoxStacks stacks = new FirefoxStacks(file.at("shared"), thread, store);
        samples(thread.at("samples"), place, stacks, "");
        samples(thread.at("jsAllocations"), place, stacks, "js-allocations");
        samples(thread.at("nativeAllocations"), place, stacks, "native-allocations");
        markers(thread.at("markers"), place, stacks);
    }

    /** Times of a table: themselves, or as differences (version 50 on). */
    private static double[] times(JsonTree table, int count) {
        double[] times = new double[count];
        JsonTree given = table.at("time");
        JsonTree deltas = table.at("timeDeltas");
        double sum = 0;
        for (int i = 0; i < count; i++) {
            sum += deltas.number(i, 0);
            times[i] = given.isNull() ? sum : given.number(i, 0);
        }
        return times;
    }

    private static int length(JsonTree table, String column) {
        int there = table.at(column).size();
        double said = table.number("length", there);
        return said >= 0 && said < there ? (int) said : there;
    }

    private void samples(JsonTree table, RowOrigin of, FirefoxStacks stacks, String allocations) {
        int count = length(table, "stack");
        double[] times = times(table, count);
        String type = table.text("weightType");
        String event =
                switch (type) {
                    case "tracing-ms" -> "cpu-clock";
                    case "bytes" -> allocations.isEmpty() ? "bytes" : allocations;
                    default -> allocations.isEmpty() ? "samples" : allocations;
                };
        double scale = type.equals("tracing-ms") ? 1e6 : 1;
        JsonTree weights = table.at("weight");
        for (int i = 0; i < count; i++) {
            int stack = table.at("stack").index(i);
            RowOrigin place = new RowOrigin(nanos(times[i]), -1, of.pid(), of.tid());
            long weight = Math.round(weights.number(i, 1) * scale);
            rows.sample(place, event, weight, stacks.chain(stack));
        }
    }

    private void markers(JsonTree table, RowOrigin of, FirefoxStacks stacks) {
        int count = length(table, "name");
        JsonTree categories = file.at("meta").at("categories");
        for (int i = 0; i < count; i++) {
            JsonTree data = table.at("data").at(i);
            double start = table.at("startTime").number(i, Double.NaN);
            double end = table.at("endTime").number(i, Double.NaN);
            int phase = (int) table.at("phase").number(i, INSTANT);
            if (table.at("startTime").isNull()) {
                // Until version 30 a marker had one time, and its span in the data.
                double time = table.at("time").number(i, 0);
                start = data.number("startTime", time);
                end = data.number("endTime", Double.NaN);
                phase = Double.isNaN(end) ? INSTANT : INTERVAL;
            }
            String name = stacks.string(table.at("name").index(i));
            String category = categories.at(table.at("category").index(i)).text("name");
            String args = data.json();
            TracedSlice slice = new TracedSlice(of.tid(), name, category, "", args);
            double at = phase == INTERVAL_END || Double.isNaN(start) ? end : start;
            long time = Double.isNaN(at) ? 0 : nanos(at);
            RowOrigin place = new RowOrigin(time, -1, of.pid(), of.tid());
            switch (phase) {
                case INTERVAL -> {
                    long dur = Double.isNaN(end) ? 0 : Math.max(0, nanos(end) - time);
                    rows.complete(place, slice, dur);
                }
                case INTERVAL_START -> rows.begin(place, slice);
                case INTERVAL_END -> rows.end(place, slice);
                default -> {
                    int cause = data.at("cause").at("stack").isNull() ? -1 : cause(data);
                    rows.instant(place, slice, stacks.chain(cause));
                }
            }
        }
    }

    private static int cause(JsonTree data) {
        double stack = data.at("cause").number("stack", -1);
        return stack >= 0 && stack < Integer.MAX_VALUE ? (int) stack : -1;
    }

    private void counter(JsonTree counter, int index) {
        int pid = number(counter.at("pid"), -1);
        String name = counter.text("name");
        JsonTree samples = counter.at("samples");
        if (samples.isNull()) {
            // Until version 47 in groups; before that one group alone.
            JsonTree groups = counter.at("sampleGroups");
            samples = groups.isArray() ? groups.at(0).at("samples") : groups.at("samples");
        }
        int count = length(samples, "count");
        double[] times = times(samples, count);
        for (int i = 0; i < count; i++) {
            RowOrigin place = new RowOrigin(nanos(times[i]), -1, pid, -1);
            double value = samples.at("count").number(i, 0);
            rows.counter(place, index, name, counter.text("unit"), value);
        }
    }
}
