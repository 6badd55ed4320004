package sonde.exchange.valgrind;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.event.Recording;
import sonde.event.result.Frame;
import sonde.recording.RowStore;
import sonde.recording.TextLines;
import sonde.recording.TraceRows;
import sonde.recording.TraceRows.RowOrigin;
import sonde.recording.json.JsonTree;

/**
 * Reads callgrind.out and cachegrind.out: the own cost of each function as {@code perf:EVENT}, and
 * a {@code callgrind:call} for each caller and callee with its inclusive cost. There are no times,
 * and no chains longer than a call: the format has none.
 */
public final class CallgrindReader {
    private static final String FORMAT = "callgrind";
    private static final int MOST_EVENTS = 256;

    private final RowStore store = new RowStore();
    private final TraceRows rows = new TraceRows(store);
    private final List<String> notes = new ArrayList<>();
    private final Map<String, String> names = new HashMap<>();
    private final Map<Function, long[]> own = new LinkedHashMap<>();
    private final Map<CallEdge, long[]> calls = new LinkedHashMap<>();
    private final Map<String, String> header = new LinkedHashMap<>();
    private String[] events = {};
    private int positions = 1;
    private long[] calling = {};
    private int pid = -1;
    private int thread = -1;
    private String object = "";
    private String file = "";
    private String function = "";
    private @Nullable String calledObject;
    private @Nullable String calledFile;
    private String called = "";
    private long bad;

    private record Function(String name, String file, String object) {}

    private record CallEdge(Function caller, Function callee) {}

    private CallgrindReader() {}

    /** Whether it says so, or has the event line and a function that it must have. */
    public static boolean isCallgrind(Input input) {
        String head = JsonTree.head(input, 1 << 16);
        if (head.startsWith("# callgrind format")) {
            return true;
        }
        boolean events = head.startsWith("events:") || head.contains("\nevents:");
        return events && (head.contains("\nfn=") || head.contains("\nfl="));
    }

    /**
     * Reads a file; the input may be closed afterwards.
     *
     * @throws MalformedInputException when it is none
     */
    public static Recording open(Input input) throws MalformedInputException {
        if (!isCallgrind(input)) {
            throw new MalformedInputException(FORMAT, "events", 0, "no such line");
        }
        CallgrindReader reader = new CallgrindReader();
        return reader.store.filled(() -> {
            TextLines lines = new TextLines(input.segment());
            for (String line = lines.next(); line != null; line = lines.next()) {
                reader.line(line.strip());
            }
            reader.flush();
            if (reader.bad > 0) {
                reader.notes.add(reader.bad + " lines could not be read.");
                reader.rows.corrupt(0);
            }
            return reader.store.recording(FORMAT, Clock.COUNTER, reader.notes);
        });
    }

    private void line(String line) {
        if (line.isEmpty() || line.startsWith("#")) {
            return;
        }
        char first = line.charAt(0);
        if (first >= '0' && first <= '9' || first == '+' || first == '-' || first == '*') {
            cost(line);
            return;
        }
        int colon = line.indexOf(':');
        int equals = line.indexOf('=');
        if (equals > 0 && (colon < 0 || equals < colon)) {
            body(line.substring(0, equals), line.substring(equals + 1));
        } else if (colon > 0) {
            header(line.substring(0, colon), line.substring(colon + 1).strip());
        } else {
            bad++;
        }
    }

    private void header(String key, String value) {
        switch (key) {
            case "events" -> {
                String[] named = value.split("\\s+");
                events = named.length > MOST_EVENTS ? new String[0] : named;
                rows.counts(named[0]);
            }
            case "positions" -> positions = value.contains(" ") ? 2 : 1;
            case "pid" -> pid = (int) number(value);
            case "thread" -> {
                flush();
                thread = (int) number(value);
            }
            case "part" -> flush();
            case "cmd", "creator", "desc", "summary", "totals", "version" ->
                    header.merge(
                            key, value, (one, two) -> one.length() > 4096 ? one : one + '\n' + two);
            default -> {}
        }
    }

    /** A name, or the number that stands for it: {@code (3) name} once, then {@code (3)}. */
    private String name(String kind, String value) {
        int close = value.indexOf(')');
        if (!value.startsWith("(") || close < 0) {
            return value;
        }
        String key = kind + value.substring(0, close + 1);
        String text = value.substring(close + 1).strip();
        if (text.isEmpty()) {
            return names.getOrDefault(key, value);
        }
        names.put(key, text);
        return text;
    }

    private void body(String key, String value) {
        switch (key) {
            case "ob" -> object = name("o", value);
            case "fl", "fi", "fe" -> file = name("f", value);
            case "fn" -> {
                function = name("n", value);
                calledObject = null;
                calledFile = null;
            }
            case "cob" -> calledObject = name("o", value);
            case "cfi", "cfl" -> calledFile = name("f", value);
            case "cfn" -> called = name("n", value);
            case "calls" -> {
                String[] words = value.split("\\s+");
                calling = new long[] {number(words[0])};
            }
            case "jump", "jcnd", "jfi", "jfn" -> {}
            default -> bad++;
        }
    }

    private static long number(String text) {
        try {
            return text.startsWith("0x")
                    ? Long.parseUnsignedLong(text.substring(2), 16)
                    : Long.parseLong(text);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private void cost(String line) {
        String[] words = line.split("\\s+");
        Function from = new Function(function, file, object);
        long[] sums;
        boolean call = calling.length > 0;
        if (call) {
            String in = calledObject == null ? object : calledObject;
            String at = calledFile == null ? file : calledFile;
            CallEdge made = new CallEdge(from, new Function(called, at, in));
            sums = calls.computeIfAbsent(made, ignored -> new long[events.length + 1]);
            sums = sums.length == events.length + 1 ? sums : new long[events.length + 1];
            sums[events.length] += calling[0];
            calling = new long[0];
            calledObject = null;
            calledFile = null;
        } else {
            sums = own.computeIfAbsent(from, ignored -> new long[events.length + 1]);
        }
        for (int i = 0; i < events.length && positions + i < words.length; i++) {
            if (i < sums.length) {
                sums[i] += number(words[positions + i]);
            }
        }
    }

    private long entry(Function function) {
        String module = function.object.isEmpty() ? function.file : function.object;
        return store.frame(new Frame(function.name, module, Frame.Kind.USER));
    }

    /** Hands out the sums of a part, which has its own. */
    private void flush() {
        RowOrigin place = new RowOrigin(0, -1, pid, thread);
        header.forEach((key, value) -> rows.metadata(place, key, value));
        header.clear();
        own.forEach((function, sums) -> {
            int chain = store.chain(entry(function));
            for (int i = 0; i < events.length && i < sums.length; i++) {
                if (sums[i] != 0) {
                    rows.sample(place, events[i], sums[i], chain);
                }
            }
        });
        calls.forEach((call, sums) -> call(place, call, sums));
        own.clear();
        calls.clear();
    }

    private void call(RowOrigin place, CallEdge call, long[] sums) {
        EventType type =
                rows.type(
                        FORMAT,
                        "call",
                        builder ->
                                builder.integer("count", 8, false)
                                        .integer("inclusive", 8, false)
                                        .text("event")
                                        .text("caller")
                                        .text("callee"));
        int chain = store.chain(entry(call.callee), entry(call.caller));
        for (int i = 0; i < events.length && i < sums.length - 1; i++) {
            // Weights of one type are added up: those of the first event alone can be.
            long weight = i == 0 ? sums[i] : 0;
            RowStore row = rows.begin(place, type).sample(place.pid(), weight).stack(chain);
            row.integer(TraceRows.field(type, 0), sums[sums.length - 1]);
            row.integer(TraceRows.field(type, 1), sums[i]);
            row.text(TraceRows.field(type, 2), events[i]);
            row.text(TraceRows.field(type, 3), call.caller.name);
            row.text(TraceRows.field(type, 4), call.callee.name).end();
        }
    }
}
