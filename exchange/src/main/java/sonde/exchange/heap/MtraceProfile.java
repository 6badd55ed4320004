package sonde.exchange.heap;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.event.heap.HeapMoment;
import sonde.event.heap.HeapProfile;
import sonde.event.heap.HeapStack;
import sonde.event.heap.HeapSums;
import sonde.event.result.Frame;

/**
 * Reads the log of glibc's mtrace (glibc {@code malloc/mtrace-impl.c}): one frame for each block,
 * and no times, so that calls are counted instead.
 */
final class MtraceProfile {
    private static final int MOST_BLOCKS = 1 << 22;
    private static final Pattern LINE =
            Pattern.compile(
                    "^(?:@ (.*?) ?)?([-+<>!]) (0x[0-9a-fA-F]{1,16}|\\(nil\\))(?: 0x([0-9a-fA-F]{1,16}))?$");
    // "./a.out:(main+0x1e)[0x401156]", "./a.out:[0x401156]"
    private static final Pattern CALLER =
            Pattern.compile("^(.*?):(?:\\((.*?)\\))?\\[(0x[0-9a-fA-F]{1,16})\\]$");

    private final HeapBlocks blocks = new HeapBlocks();
    private final CurvePoints curve = new CurvePoints();
    private final Map<Long, Integer> live = new HashMap<>();
    private final Map<Frame, Integer> sites = new HashMap<>();
    private final List<Frame> frames = new ArrayList<>();
    private final Map<Long, Integer> kinds = new HashMap<>();
    private long calls;
    private long bad;
    private long unknown;

    static HeapFile read(InputStream in, long until) throws IOException {
        return new MtraceProfile().read(new HeapLines(in), until);
    }

    private HeapFile read(HeapLines lines, long until) throws IOException {
        long most = until == HeapSums.UNKNOWN ? Long.MAX_VALUE : until;
        for (String line = lines.next(); line != null && calls < most; line = lines.next()) {
            Matcher record = LINE.matcher(line.strip());
            if (record.matches()) {
                record(record);
                curve.add(new HeapMoment(calls, blocks.most(), HeapSums.UNKNOWN, HeapSums.UNKNOWN));
            } else if (!line.startsWith("=") && !line.isBlank()) {
                bad++;
            }
        }
        List<String> notes = new ArrayList<>();
        if (bad > 0) {
            notes.add(bad + " lines could not be read.");
        }
        if (unknown > 0) {
            notes.add(unknown + " frees of blocks that the log does not have are not counted.");
        }
        List<HeapStack> stacks = new ArrayList<>();
        blocks.bySite(frames.size())
                .forEach((site, sums) ->
                        stacks.add(new HeapStack(0, List.of(frames.get(site)), sums)));
        HeapProfile profile =
                new HeapProfile(
                        "",
                        "mtrace",
                        HeapSums.UNKNOWN,
                        "calls",
                        blocks.totals(),
                        blocks.peakTime(),
                        HeapSums.UNKNOWN,
                        stacks,
                        curve.points(),
                        blocks.sizes(),
                        List.of(),
                        notes);
        return new HeapFile(profile, List.of(), List.of());
    }

    private void record(Matcher record) {
        char kind = record.group(2).charAt(0);
        String address = record.group(3);
        long block = address.startsWith("0x") ? hex(address.substring(2)) : 0;
        calls++;
        switch (kind) {
            case '+', '>' -> {
                int number = record.group(4) == null ? -1 : kind(record);
                if (number < 0 || live.size() >= MOST_BLOCKS || !blocks.change(number, 1, calls)) {
                    bad++;
                } else {
                    live.put(block, number);
                }
            }
            case '-', '<' -> {
                Integer number = live.remove(block);
                if (number == null || !blocks.change(number, -1, calls)) {
                    unknown += block == 0 ? 0 : 1;
                }
            }
            default -> {} // a realloc that failed
        }
    }

    private int kind(Matcher record) {
        int site =
                sites.computeIfAbsent(
                        caller(record.group(1)),
                        made -> {
                            frames.add(made);
                            return frames.size() - 1;
                        });
        long size = hex(record.group(4));
        if (size < 0 || size > 1L << 40) {
            return -1;
        }
        return kinds.computeIfAbsent(
                (long) site << 40 ^ size, made -> blocks.add(size, site) ? blocks.kinds() - 1 : -1);
    }

    private static long hex(String digits) {
        return Long.parseUnsignedLong(digits, 16);
    }

    private static Frame caller(@Nullable String text) {
        Matcher place = CALLER.matcher(text == null ? "" : text);
        if (!place.matches()) {
            String name = text == null || text.isEmpty() ? "no caller" : text;
            return Frame.label("[" + name + "]");
        }
        String symbol = place.group(2) == null ? "" : place.group(2);
        String name =
                symbol.isEmpty() || symbol.startsWith("+") ? "[" + place.group(3) + "]" : symbol;
        return new Frame(name, place.group(1), Frame.Kind.USER);
    }
}
