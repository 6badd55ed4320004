package sonde.recording.text;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Entries of a {@code hist} file of tracefs ({@code hist_trigger_show} of
 * kernel/trace/trace_events_hist.c):
 *
 * <pre>
 * { call_site: [ffffffff9d9cdbe0] f+0x90/0x250, common_pid: 7 } hitcount: 6144  bytes_req: 311296
 *     max: 65  next_comm: ksoftirqd/0                 what onmax() and onchange() saved
 * { stacktrace:
 *          schedule+0x5a/0xd0
 * } hitcount: 1
 * </pre>
 */
final class HistItems extends CountItems {
    static final byte[] TITLE = KeyValueTokens.bytes("# event histogram");
    private static final byte[] TRIGGER = KeyValueTokens.bytes("# trigger info: ");
    private static final byte[] OPEN = KeyValueTokens.bytes("{ ");
    private static final byte[] HITCOUNT = KeyValueTokens.bytes("hitcount");
    private static final byte[] KERNEL = KeyValueTokens.bytes("[kernel]");
    private static final byte[] COMMON = KeyValueTokens.bytes("common_");
    private static final byte[] DROPPED = KeyValueTokens.bytes("Dropped: ");
    private static final byte[][] TOTALS = {
        KeyValueTokens.bytes("Totals:"),
        KeyValueTokens.bytes("Hits: "),
        KeyValueTokens.bytes("Entries: "),
        KeyValueTokens.bytes("Duplicates: "),
    };

    private final LineScan scan = new LineScan();
    private final byte[] scratch = TextFrames.scratch();

    /** The entry's pairs with single blanks; a key is never read from it, only values. */
    private byte[] made = new byte[512];

    private int size;

    HistItems(CountText model, LineWindow lines) {
        super(model, lines);
    }

    @Override
    Verdict parse() {
        byte[] b = lines.bytes();
        int from = lines.from;
        int to = LineScan.trimEnd(b, from, lines.to);
        if (from == to) {
            return Verdict.NOTHING;
        }
        if (b[from] == '#') {
            if (model.learning && LineScan.startsWith(b, from, to, TRIGGER)) {
                int start = from + TRIGGER.length;
                model.note(new String(b, start, to - start, StandardCharsets.UTF_8) + ".");
            }
            return Verdict.NOTHING;
        }
        if (!LineScan.startsWith(b, from, to, OPEN)) {
            return rest(b, from, to);
        }
        lineOffset = lines.offset;
        lineBytes = to - from;
        size = 0;
        depth = 0;
        weight = 0;
        tokens.pairs(made, 0, 0);
        int end = pairs(b, from + OPEN.length, to);
        if (end == to && isStack(b, to) && !stack()) {
            return Verdict.BAD;
        }
        saved();
        tokens.line = made;
        return tokens.count == 0 ? Verdict.BAD : Verdict.ITEM;
    }

    private Verdict rest(byte[] b, int from, int to) {
        scan.over(b, from, to).blanks();
        if (scan.take(DROPPED)) {
            if (model.learning && scan.decimal() && scan.value > 0) {
                model.note(scan.value + " hits had no room in a histogram and are not in it.");
            }
            return Verdict.NOTHING;
        }
        for (byte[] total : TOTALS) {
            if (LineScan.startsWith(b, scan.at, to, total)) {
                return Verdict.NOTHING;
            }
        }
        return Verdict.BAD;
    }

    /** {@code key: value} up to the end of the line; where it stopped. */
    private int pairs(byte[] b, int from, int to) {
        int at = from;
        while (at < to) {
            scan.over(b, at, to);
            while (scan.at < to && (b[scan.at] == ' ' || b[scan.at] == ',' || b[scan.at] == '}')) {
                scan.at++;
            }
            int key = scan.at;
            int colon = key(b, key, to);
            if (colon < 0) {
                return at == from ? from : to;
            }
            int value = colon + 1;
            int end = value;
            while (end < to && !ends(b, end, to)) {
                end++;
            }
            pair(b, key, colon, value, end);
            at = end;
        }
        return to;
    }

    /** The colon behind a key; -1 where none begins. */
    private static int key(byte[] b, int from, int to) {
        int at = from;
        while (at < to && (LineScan.isLetter(b[at]) || LineScan.isDigit(b[at]) || b[at] == '.')) {
            at++;
        }
        boolean is = at > from && at < to && b[at] == ':' && LineScan.isLetter(b[from]);
        return is && (at + 1 == to || b[at + 1] == ' ') ? at : -1;
    }

    /** Whether a value ends here: before another key, or before the bracket of the keys. */
    private static boolean ends(byte[] b, int at, int to) {
        if (b[at] == ',') {
            return at + 1 < to && b[at + 1] == ' ' && key(b, at + 2, to) > 0;
        }
        if (b[at] == '}') {
            int next = at + 1;
            return next < to && b[next] == ' ' && key(b, next + 1, to) > 0;
        }
        boolean wide = b[at] == ' ' && at + 2 < to && b[at + 1] == ' ';
        return wide && key(b, at + 2, to) > 0;
    }

    private void pair(byte[] b, int key, int colon, int from, int to) {
        int length = colon - key + to - from;
        if (made.length < size + length) {
            made = Arrays.copyOf(made, 2 * (size + length));
        }
        int start = size;
        for (int i = from; i < to; i++) {
            boolean twice = b[i] == ' ' && (size == start || made[size - 1] == ' ');
            boolean padding = b[i] == ' ' && size > start && made[size - 1] == '[';
            if (!twice && !padding) {
                made[size++] = b[i];
            }
        }
        while (size > start && made[size - 1] == ' ') {
            size--;
        }
        if (size == start) {
            return; // a stack, whose frames follow
        }
        // Listings leave fields out that begin so: they are the same in every event.
        boolean common = LineScan.startsWith(b, key, colon, COMMON);
        tokens.add(Arrays.copyOfRange(b, common ? key + COMMON.length : key, colon), start, size);
        if (LineScan.is(b, key, colon, HITCOUNT)) {
            scan.over(made, start, size);
            weight = scan.decimal() ? scan.value : 0;
        }
    }

    private static boolean isStack(byte[] b, int to) {
        return b[to - 1] == ':';
    }

    /** Frames, one a line, up to the bracket; false where it does not come. */
    private boolean stack() {
        while (lines.next()) {
            byte[] b = lines.bytes();
            int to = LineScan.trimEnd(b, lines.from, lines.to);
            scan.over(b, lines.from, to).blanks();
            if (scan.peek() == '}' || scan.peek() == ',') {
                pairs(b, scan.at, to);
                return true;
            }
            if (scan.at == lines.from || scan.atEnd()) {
                lines.back();
                return false;
            }
            frame(b, scan.at, to);
        }
        return false;
    }

    private void frame(byte[] b, int from, int to) {
        scan.over(b, from, to).word();
        int plus = LineScan.find(b, from, scan.at, new byte[] {'+', '0', 'x'});
        int end = plus > from ? plus : scan.at;
        byte[] entry = Arrays.copyOf(Arrays.copyOfRange(b, from, end), end - from + KERNEL.length);
        System.arraycopy(KERNEL, 0, entry, end - from, KERNEL.length);
        int name = Math.min(end - from, 4096);
        if (depth < frames.length) {
            frames[depth++] =
                    model.learning
                            ? model.frames.add(entry, 0, name, end - from, entry.length)
                            : model.frames.find(entry, 0, name, end - from, entry.length, scratch);
        }
    }

    /** What an action saved with the entry: lines that begin with a tab. */
    private void saved() {
        while (lines.next()) {
            byte[] b = lines.bytes();
            if (lines.from == lines.to || b[lines.from] != '\t') {
                lines.back();
                return;
            }
            scan.over(b, lines.from, lines.to).blanks();
            pairs(b, scan.at, LineScan.trimEnd(b, scan.at, lines.to));
        }
    }
}
