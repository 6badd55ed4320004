package sonde.recording.text;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A line of the function_graph tracer: {@code [time |] cpu) [flags |] [comm-pid |] [duration |]
 * call}. Where there is no time one is made, so that durations are right: a leaf call takes its
 * duration, a call ends its duration after its begin at the earliest.
 */
final class GraphLine {
    private static final int MOST_CPUS = 1 << 12;
    private static final int MOST_DEPTH = 128;
    private static final byte[] SWITCHES = KeyValueTokens.bytes("=>");
    private static final byte[] US = KeyValueTokens.bytes("us");

    private final FtraceText model;
    private final FtraceBody body;
    private final GraphCall call = new GraphCall();
    private final LineScan scan = new LineScan();
    private int[] tids = {-1, -1};
    private long[] @Nullable [] begins = new long[2][];
    private long now;

    @Nullable LearntType shape;
    boolean nothing;
    long time;
    int cpu;
    int tid;
    int info;
    int infoEnd;

    GraphLine(FtraceText model, FtraceBody body) {
        this.model = model;
        this.body = body;
    }

    /** Reads a line; false when it is none of these. */
    boolean parse(byte[] b, int from, int to) {
        nothing = false;
        long stated = -1;
        cpu = -1;
        scan.over(b, from, to).blanks();
        int start = scan.at;
        if (b[start] == '-') {
            nothing = isRule(b, start, to);
            return nothing;
        }
        if (scan.seconds() && (scan.fraction > 0 || scan.peek() == ' ')) {
            stated = scan.value;
            scan.blanks();
            if (scan.take(US)) { // of a latency, from its start
                stated /= 1_000_000;
                scan.blanks();
            }
            if (!scan.take('|')) {
                return false;
            }
            scan.blanks();
            start = scan.at;
        }
        scan.at = start;
        if (!scan.decimal() || scan.value >= MOST_CPUS || !scan.take(')')) {
            scan.at = start;
        } else {
            cpu = (int) scan.value;
        }
        return columns(b, scan.at, to, stated);
    }

    private static boolean isRule(byte[] b, int from, int to) {
        int end = LineScan.trimEnd(b, from, to);
        for (int i = from; i < end; i++) {
            if (b[i] != '-') {
                return false;
            }
        }
        return end - from > 10;
    }

    private boolean columns(byte[] b, int from, int to, long stated) {
        int at = from;
        room(cpu);
        tid = tids[cpu + 1];
        for (int column = 0; column < 4; column++) {
            int bar = LineScan.find(b, at, to, new byte[] {'|'});
            if (bar < 0) {
                return cpu >= 0 && last(b, at, to);
            }
            if (isDuration(b, at, bar)) {
                if (LineScan.find(b, at, bar, new byte[] {'=', '='}) >= 0) {
                    nothing = true; // an interrupt begins or ends
                    return true;
                }
                return call.duration(b, at, bar) && take(b, at, bar + 1, to, stated);
            }
            process(b, at, bar);
            at = bar + 1;
        }
        return false;
    }

    /** {@code bash-12 => sh-13}: from now on the CPU runs another; or a call without duration. */
    private boolean last(byte[] b, int at, int to) {
        int arrow = LineScan.find(b, at, to, SWITCHES);
        if (arrow < 0) {
            return false;
        }
        process(b, arrow + SWITCHES.length, to);
        nothing = true;
        return true;
    }

    private static boolean isDuration(byte[] b, int from, int to) {
        int end = LineScan.trimEnd(b, from, to);
        return LineScan.trimEnd(b, from, end) == from
                || end - from > 2 && LineScan.startsWith(b, end - 2, end, US)
                || b[end - 1] == '='
                || LineScan.find(b, from, end, new byte[] {'=', '='}) >= 0;
    }

    private void process(byte[] b, int from, int to) {
        int end = LineScan.trimEnd(b, from, to);
        int dash = end - 1;
        while (dash > from && LineScan.isDigit(b[dash])) {
            dash--;
        }
        if (dash > from && dash < end - 1 && b[dash] == '-') {
            scan.over(b, dash + 1, end);
            if (scan.decimal() && scan.value <= Integer.MAX_VALUE) {
                tid = (int) scan.value;
                tids[cpu + 1] = tid;
                scan.over(b, from, dash).blanks();
                if (model.learning) {
                    model.comms.learn(tid, b, scan.at, dash);
                }
            }
        }
    }

    /** The text of a call is its duration and its indentation too. */
    private boolean take(byte[] b, int column, int from, int to, long stated) {
        if (!call.call(b, from, to, body.tokens)) {
            return false;
        }
        time(stated);
        info = column;
        infoEnd = LineScan.trimEnd(b, info, to);
        if (call.comment >= 0) {
            shape = body.comment(b, call.comment, call.commentEnd) ? body.shape : null;
            info = body.info;
            infoEnd = Math.max(info, LineScan.trimEnd(b, info, call.commentEnd));
            return shape != null;
        }
        shape = call.closes ? model.exit : model.entry;
        return true;
    }

    private void time(long stated) {
        if (stated >= 0) {
            time = stated;
            return;
        }
        long[] mine = begins(cpu + 1);
        int depth = Math.min(call.depth, MOST_DEPTH - 1);
        if (call.closes) {
            now = Math.max(now, mine[depth] + Math.max(call.duration, 0));
            time = now;
        } else {
            mine[depth] = now;
            time = now;
            now += call.opens ? 0 : Math.max(call.duration, 0);
        }
        if (model.learning) {
            model.note("The text has no times: they are made from the durations of the calls.");
        }
    }

    private void room(int number) {
        if (number + 1 >= tids.length) {
            int length = Math.max(2 * tids.length, number + 2);
            int known = tids.length;
            tids = Arrays.copyOf(tids, length);
            Arrays.fill(tids, known, length, -1);
            begins = Arrays.copyOf(begins, length);
        }
    }

    private long[] begins(int index) {
        long[] found = begins[index];
        if (found == null) {
            found = new long[MOST_DEPTH];
            begins[index] = found;
        }
        return found;
    }
}
