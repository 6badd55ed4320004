package sonde.exchange.valgrind;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.event.Recording;
import sonde.event.result.Frame;
import sonde.recording.LongList;
import sonde.recording.RowStore;
import sonde.recording.TextLines;
import sonde.recording.TraceRows;
import sonde.recording.TraceRows.RowOrigin;
import sonde.recording.json.JsonTree;

/**
 * Reads massif.out: the sizes of each snapshot as counters; of detailed ones the bytes of each call
 * chain as {@code perf:heap}. Times are instructions, bytes allocated, or milliseconds turned to
 * nanoseconds.
 */
public final class MassifReader {
    private static final String FORMAT = "massif";
    private static final int MOST_DEPTH = 4096;

    // " n2: 1000 0x4005A3: main (a.c:5)"
    private static final Pattern NODE =
            Pattern.compile("^( *)n(\\d{1,9}): (\\d{1,18}) (?:(0x[0-9A-Fa-f]{1,16}): )?(.*)$");
    private static final Pattern PLACE = Pattern.compile("^(.*) \\((?:in )?([^()]*)\\)$");

    private final RowStore store = new RowStore();
    private final TraceRows rows = new TraceRows(store);
    private final List<String> notes = new ArrayList<>();
    private final LongList path = new LongList();
    private Clock clock = Clock.COUNTER;
    private long scale = 1;
    private long time;
    private long bad;

    private final EventType snapshot = rows.type("heap", "snapshot", type -> type);
    private boolean peak;

    private MassifReader() {}

    /** Whether it begins with the three lines of a header. */
    public static boolean isMassif(Input input) {
        String head = JsonTree.head(input, 1 << 16);
        return head.startsWith("desc:") && head.contains("\ncmd:") && head.contains("\ntime_unit:");
    }

    /**
     * Reads a file; the input may be closed afterwards.
     *
     * @throws MalformedInputException when it is none
     */
    public static Recording open(Input input) throws MalformedInputException {
        if (!isMassif(input)) {
            throw new MalformedInputException(FORMAT, "desc", 0, "no header");
        }
        MassifReader reader = new MassifReader();
        return reader.store.filled(() -> {
            TextLines lines = new TextLines(input.segment());
            for (String line = lines.next(); line != null; line = lines.next()) {
                reader.line(line);
            }
            if (reader.bad > 0) {
                reader.notes.add(reader.bad + " lines could not be read.");
                reader.rows.corrupt(reader.time);
            }
            return reader.store.recording(FORMAT, reader.clock, reader.notes);
        });
    }

    private void line(String line) {
        if (line.isEmpty() || line.startsWith("#") || line.startsWith("snapshot=")) {
            return;
        }
        Matcher node = NODE.matcher(line);
        if (node.matches()) {
            node(node);
            return;
        }
        int equals = line.indexOf('=');
        int colon = line.indexOf(':');
        RowOrigin place = new RowOrigin(time, -1, -1, -1);
        if (colon > 0 && (equals < 0 || colon < equals)) {
            String value = line.substring(colon + 1).strip();
            if (line.startsWith("time_unit") && value.equals("ms")) {
                clock = Clock.MONO;
                scale = 1_000_000;
            }
            rows.metadata(place, line.substring(0, colon), value);
        } else if (equals > 0) {
            snapshot(line.substring(0, equals), line.substring(equals + 1));
        } else {
            bad++;
        }
    }

    private void snapshot(String key, String value) {
        RowOrigin place = new RowOrigin(time, -1, -1, -1);
        try {
            switch (key) {
                case "time" -> time = Math.multiplyExact(Long.parseLong(value), scale);
                case "mem_heap_B" -> rows.counter(place, 1, "heap", "bytes", number(value));
                case "mem_heap_extra_B" ->
                        rows.counter(place, 2, "heap_extra", "bytes", number(value));
                case "mem_stacks_B" -> rows.counter(place, 3, "stacks", "bytes", number(value));
                case "heap_tree" -> {
                    path.clear();
                    peak = value.equals("peak");
                }
                default -> bad++;
            }
        } catch (ArithmeticException | NumberFormatException e) {
            bad++;
        }
    }

    private static long number(String text) {
        return Long.parseLong(text);
    }

    /** A node's children are its callers; each further one blank to the right. */
    private void node(Matcher node) {
        int depth = node.group(1).length();
        if (depth > MOST_DEPTH || depth > path.size() + 1) {
            bad++;
            return;
        }
        // The root stands for all allocation functions and is no frame.
        while (path.size() > Math.max(0, depth - 1)) {
            path.removeLast();
        }
        if (depth > 0) {
            Matcher place = PLACE.matcher(node.group(5));
            boolean named = node.group(4) != null && place.matches();
            String name = named ? place.group(1) : node.group(5);
            String module = named ? place.group(2) : "";
            Frame.Kind kind = node.group(4) == null ? Frame.Kind.LABEL : Frame.Kind.USER;
            path.add(store.frame(new Frame(name, module, kind)));
        }
        if (node.group(2).equals("0")) {
            int chain = store.chain(path.toArray());
            RowOrigin place = new RowOrigin(time, -1, -1, -1);
            long bytes = Long.parseLong(node.group(3));
            if (peak) {
                rows.sample(place, "heap", bytes, chain);
            } else {
                // What lives is counted again in every snapshot: only one may be added up.
                rows.begin(place, snapshot).sample(-1, bytes).stack(chain).end();
            }
        }
    }
}
