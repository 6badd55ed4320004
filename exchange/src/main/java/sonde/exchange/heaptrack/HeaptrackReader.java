package sonde.exchange.heaptrack;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
 * Reads a recording: {@code heap:alloc} and {@code heap:free} with size and call chain, resident
 * memory as a counter. All numbers of the file are hexadecimal; its clock ticks in milliseconds
 * from the program's start.
 */
public final class HeaptrackReader {
    private static final String FORMAT = "heaptrack";
    private static final int MOST_FRAMES = 1024;

    private final RowStore store = new RowStore();
    private final TraceRows rows = new TraceRows(store);
    private final List<String> notes = new ArrayList<>();
    private final List<String> strings = new ArrayList<>();
    private final List<long[]> pointers = new ArrayList<>();
    private final LongList traceIp = new LongList();
    private final LongList traceParent = new LongList();
    private final Map<Integer, Integer> chains = new HashMap<>();
    private final LongList sizes = new LongList();
    private final LongList traces = new LongList();
    private final Map<Long, Long> live = new HashMap<>();
    private final EventType alloc;
    private final EventType free;
    private long time;
    private long pageBytes = 4096;
    private long fileVersion;
    private long bad;

    private HeaptrackReader() {
        alloc = rows.type("heap", "alloc", type -> type.integer("size", 8, false));
        free = rows.type("heap", "free", type -> type.integer("size", 8, false));
    }

    /** Whether it begins with the line of versions and another record. */
    public static boolean isHeaptrack(Input input) {
        String head = JsonTree.head(input, 1 << 12);
        String[] lines = head.split("\n", 4);
        int at = 0;
        while (at < lines.length && lines[at].startsWith("#")) {
            at++;
        }
        return at + 1 < lines.length
                && lines[at].matches("v [0-9a-f]{1,8}( [0-9a-f]{1,4})?")
                && lines[at + 1].matches("[XIsitac+ASR#-]( .*)?");
    }

    /**
     * Reads a file; the input may be closed afterwards.
     *
     * @throws MalformedInputException when it is none
     */
    public static Recording open(Input input) throws MalformedInputException {
        if (!isHeaptrack(input)) {
            throw new MalformedInputException(FORMAT, "version", 0, "no such line");
        }
        HeaptrackReader reader = new HeaptrackReader();
        return reader.store.filled(() -> {
            TextLines lines = new TextLines(input.segment());
            for (String line = lines.next(); line != null; line = lines.next()) {
                reader.line(line);
            }
            if (reader.bad > 0) {
                reader.notes.add(reader.bad + " lines could not be read.");
                reader.rows.corrupt(reader.time);
            }
            return reader.store.recording(FORMAT, Clock.MONO, reader.notes);
        });
    }

    private void line(String line) {
        if (line.length() < 2 || line.charAt(0) == '#') {
            return;
        }
        try {
            record(line.charAt(0), line.substring(2));
        } catch (ArithmeticException | NumberFormatException | IndexOutOfBoundsException e) {
            bad++;
        }
    }

    private static long[] numbers(String text) {
        String[] words = text.strip().split(" ");
        long[] numbers = new long[words.length];
        for (int i = 0; i < words.length; i++) {
            numbers[i] = Long.parseUnsignedLong(words[i], 16);
        }
        return numbers;
    }

    private void record(char kind, String rest) {
        RowOrigin place = new RowOrigin(time, -1, -1, -1);
        switch (kind) {
            case 'v' -> {
                long[] versions = numbers(rest);
                fileVersion = versions.length > 1 ? versions[1] : 0;
            }
            case 'X' -> rows.metadata(place, "command", rest);
            case 'A' -> rows.metadata(place, "attached", "1");
            case 'I' -> {
                long bytes = numbers(rest)[0];
                pageBytes = bytes > 0 && bytes <= 1 << 24 ? bytes : pageBytes;
            }
            case 'S' -> rows.metadata(place, "suppression", rest);
            // Version 3 says the length before the text.
            case 's' ->
                    strings.add(fileVersion >= 3 ? rest.substring(rest.indexOf(' ') + 1) : rest);
            case 'i' -> pointers.add(numbers(rest));
            case 't' -> {
                long[] trace = numbers(rest);
                traceIp.add(trace[0]);
                traceParent.add(trace[1]);
            }
            case 'a' -> {
                long[] info = numbers(rest);
                sizes.add(info[0]);
                traces.add(info[1]);
            }
            case '+' -> allocated(place, numbers(rest));
            case '-' -> freed(place, numbers(rest)[0]);
            case 'c' -> time = Math.max(time, Math.multiplyExact(numbers(rest)[0], 1_000_000L));
            case 'R' -> {
                double bytes = (double) numbers(rest)[0] * pageBytes;
                rows.counter(place, 1, "rss", "bytes", bytes);
            }
            default -> bad++;
        }
    }

    private void allocated(RowOrigin place, long[] numbers) {
        if (fileVersion >= 1) {
            row(place, alloc, (int) numbers[0]);
            return;
        }
        // Version 0: size, trace, address.
        sizes.add(numbers[0]);
        traces.add(numbers[1]);
        live.put(numbers[2], (long) sizes.size() - 1);
        row(place, alloc, sizes.size() - 1);
    }

    private void freed(RowOrigin place, long number) {
        if (fileVersion >= 1) {
            row(place, free, (int) number);
            return;
        }
        Long index = live.remove(number);
        if (index != null) {
            row(place, free, index.intValue());
        }
    }

    private void row(RowOrigin place, EventType type, int info) {
        long size = sizes.at(info);
        RowStore row = rows.begin(place, type).sample(-1, size);
        row.integer(type.fields().getFirst(), size).stack(chain((int) traces.at(info))).end();
    }

    /** A trace node names an instruction and its caller's node; 1 is the first, 0 the root. */
    private int chain(int trace) {
        Integer known = chains.get(trace);
        if (known != null) {
            return known;
        }
        LongList entries = new LongList();
        int at = trace;
        for (int i = 0; i < MOST_FRAMES && at > 0 && at <= traceIp.size(); i++) {
            frames((int) traceIp.at(at - 1), entries);
            at = (int) traceParent.at(at - 1);
        }
        int chain = store.chain(entries.toArray());
        chains.put(trace, chain);
        return chain;
    }

    private String string(long[] numbers, int at) {
        long index = at < numbers.length ? numbers[at] : 0;
        return index > 0 && index <= strings.size() ? strings.get((int) index - 1) : "";
    }

    /** Address, module, then function, file and line: of the innermost, then those around it. */
    private void frames(int pointer, LongList into) {
        if (pointer <= 0 || pointer > pointers.size()) {
            return;
        }
        long[] numbers = pointers.get(pointer - 1);
        String module = string(numbers, 1);
        int count = 0;
        for (int at = 2; at < numbers.length && count < MOST_FRAMES; at += 3, count++) {
            String name = string(numbers, at);
            if (!name.isEmpty()) {
                into.add(store.frame(new Frame(name, module, Frame.Kind.USER)));
            } else if (at == 2) {
                into.add(unnamed(numbers[0], module));
            }
        }
        if (numbers.length <= 2) {
            into.add(unnamed(numbers[0], module));
        }
    }

    private long unnamed(long address, String module) {
        // An address as it was, not in the file: nothing says where the module was mapped.
        String name = "[0x" + Long.toHexString(address) + "]";
        return store.frame(new Frame(name, module, Frame.Kind.USER));
    }
}
