package sonde.exchange.heap;

import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.event.heap.HeapMoment;
import sonde.event.heap.HeapProfile;
import sonde.event.heap.HeapSums;
import sonde.event.result.Frame;

/**
 * Reads massif.out (valgrind, {@code massif/ms_main.c}), which heaptrack_print writes too. A file
 * has bytes in use by stack for some moments, and counts no calls.
 */
final class MassifProfile {
    private static final int MOST_DEPTH = 4096;

    // " n2: 1000 0x4005A3: main (a.c:5)"
    private static final Pattern NODE =
            Pattern.compile("^( *)n(\\d{1,9}): (\\d{1,18}) (?:(0x[0-9A-Fa-f]{1,16}): )?(.*)$");
    private static final Pattern PLACE =
            Pattern.compile("^(.*) \\((in )?([^()]*?)(?::(\\d{1,9}))?\\)$");

    private final HeapLines lines;
    private final long until;
    private final CurvePoints curve = new CurvePoints();
    private final List<Long> detailed = new ArrayList<>();
    private final List<Frame> path = new ArrayList<>();
    private final List<Long> pathBytes = new ArrayList<>();
    private @Nullable List<Leaf> peak;
    private @Nullable List<Leaf> largest;
    private List<Leaf> latest = List.of();
    private List<Leaf> tree = new ArrayList<>();
    private String command = "";
    private String unit = "i";
    private BigDecimal scale = BigDecimal.ONE;
    private boolean peakTree;
    private boolean any;
    private boolean past;
    private long time;
    private long heap;
    private long last;
    private long most = -1;
    private long mostTime;
    private long mostDetailed = -1;
    private long latestTime;
    private long bad;

    private record Leaf(List<Frame> frames, long bytes) {}

    private MassifProfile(InputStream in, long until) {
        this.lines = new HeapLines(in);
        this.until = until == HeapSums.UNKNOWN ? Long.MAX_VALUE : until;
    }

    static HeapFile read(InputStream in, long until) throws IOException {
        return new MassifProfile(in, until).read();
    }

    private HeapFile read() throws IOException {
        for (String line = lines.next(); line != null && !past; line = lines.next()) {
            try {
                line(line);
            } catch (ArithmeticException | NumberFormatException e) {
                bad++;
            }
        }
        endSnapshot();
        List<Leaf> atPeak = peak != null ? peak : largest != null ? largest : List.of();
        boolean endsWithTree = latestTime == last && any;
        StackTotals totals = new StackTotals();
        atPeak.forEach(leaf -> totals.add(leaf.frames, sums(endsWithTree ? 0 : -1, leaf.bytes)));
        if (endsWithTree) {
            latest.forEach(leaf -> totals.add(leaf.frames, sums(leaf.bytes, 0)));
        }
        List<String> notes = new ArrayList<>();
        if (bad > 0) {
            notes.add(bad + " lines could not be read.");
        }
        if (!endsWithTree) {
            notes.add("The last snapshot has no tree: what was not freed is known in total only.");
        }
        if (peak == null && largest != null && mostDetailed < most) {
            notes.add("The peak has no tree; that of the largest detailed snapshot is shown.");
        }
        boolean isTime = unit.equals("ns");
        HeapProfile profile =
                new HeapProfile(
                        command,
                        "massif",
                        isTime ? last : HeapSums.UNKNOWN,
                        unit,
                        sums(heap, Math.max(0, most)),
                        mostTime,
                        HeapSums.UNKNOWN,
                        totals.stacks(),
                        curve.points(),
                        List.of(),
                        List.of(),
                        notes);
        return new HeapFile(profile, List.of(), detailed);
    }

    private static HeapSums sums(long live, long peakBytes) {
        return new HeapSums(-1, -1, -1, live, -1, peakBytes, -1, -1);
    }

    private void line(String line) {
        if (line.isEmpty() || line.startsWith("#")) {
            return;
        }
        Matcher node = NODE.matcher(line);
        if (node.matches()) {
            node(node);
            return;
        }
        int equals = line.indexOf('=');
        int colon = line.indexOf(':');
        String value =
                line.substring(
                        Math.max(equals, colon) < 0
                                ? 0
                                : 1
                                        + (colon < 0 || equals >= 0 && equals < colon
                                                ? equals
                                                : colon));
        if (line.startsWith("cmd:")) {
            command = value.strip();
        } else if (line.startsWith("time_unit:")) {
            unit(value.strip());
        } else if (line.startsWith("snapshot=")) {
            endSnapshot();
            any = true;
        } else if (line.startsWith("time=")) {
            if (command.isEmpty() && value.contains(".")) {
                unit("s");
            }
            long next = new BigDecimal(value.strip()).multiply(scale).longValue();
            past = next > until;
            time = past ? time : next;
        } else if (line.startsWith("mem_heap_B=")) {
            heap = Long.parseLong(value);
        } else if (line.startsWith("heap_tree=")) {
            peakTree = value.equals("peak");
            if (!value.equals("empty")) {
                detailed.add(time);
            }
        } else if (!line.startsWith("mem_") && !line.startsWith("desc:")) {
            bad++;
        }
    }

    private void unit(String name) {
        switch (name) {
            case "ms" -> {
                unit = "ns";
                scale = BigDecimal.valueOf(1_000_000);
            }
            case "s" -> {
                unit = "ns";
                scale = BigDecimal.valueOf(1_000_000_000);
            }
            default -> unit = name.equals("B") ? "B" : "i";
        }
    }

    private void endSnapshot() {
        pop(0);
        if (!any) {
            return;
        }
        last = time;
        curve.add(new HeapMoment(time, heap, HeapSums.UNKNOWN, HeapSums.UNKNOWN));
        if (heap > most) {
            most = heap;
            mostTime = time;
        }
        if (!tree.isEmpty()) {
            latest = tree;
            latestTime = time;
            peak = peakTree ? tree : peak;
            if (heap > mostDetailed) {
                mostDetailed = heap;
                largest = tree;
            }
            tree = new ArrayList<>();
        }
        peakTree = false;
    }

    /** A node's children are its callers; each further one blank to the right. */
    private void node(Matcher node) {
        int depth = node.group(1).length();
        if (depth > MOST_DEPTH || depth > pathBytes.size()) {
            bad++;
            return;
        }
        pop(depth);
        long bytes = Long.parseLong(node.group(3));
        if (depth > 0) {
            pathBytes.set(depth - 1, pathBytes.get(depth - 1) - bytes);
            path.add(frame(node.group(4), node.group(5)));
        }
        pathBytes.add(bytes);
    }

    /** Ends the nodes from a depth on: what their callers do not have is theirs. */
    private void pop(int depth) {
        while (pathBytes.size() > depth) {
            long own = pathBytes.removeLast();
            if (own > 0) {
                tree.add(new Leaf(List.copyOf(path), own));
            }
            if (!path.isEmpty()) {
                path.removeLast();
            }
        }
    }

    private static Frame frame(@Nullable String address, String text) {
        Matcher place = PLACE.matcher(text);
        if (address == null || !place.matches()) {
            return Frame.label("[" + text + "]");
        }
        boolean module = place.group(2) != null;
        String name = place.group(1).equals("???") ? "[" + address + "]" : place.group(1);
        int line = place.group(4) == null ? 0 : Integer.parseInt(place.group(4));
        String file = module ? "" : place.group(3);
        return new Frame(name, module ? place.group(3) : "", Frame.Kind.USER, false, file, line);
    }
}
