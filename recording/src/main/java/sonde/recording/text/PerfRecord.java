package sonde.recording.text;

import sonde.event.EventType;
import sonde.recording.BatchWriter;
import sonde.recording.perfdata.PerfAbi;

/**
 * What stands behind the name of a record that perf itself made, in the text of perf script with
 * --show-task-events and --show-lost-events: {@code "exec: sh:12/12"}, {@code "(12:12):(1:1)"},
 * {@code "lost 5"} (tools/perf/util/event.c, perf_event__fprintf).
 */
final class PerfRecord {
    private static final byte[] EXEC = KeyValueTokens.bytes(" exec");
    private static final byte[] LOST = KeyValueTokens.bytes("lost ");

    private final LineScan scan = new LineScan();
    private final long[] numbers = new long[4];
    private int commFrom;
    private int commTo;
    private boolean exec;
    private long lost;

    boolean parse(byte[] b, int from, int to) {
        java.util.Arrays.fill(numbers, -1);
        int at = LineScan.find(b, from, to, LOST);
        lost = at >= 0 && scan.over(b, at + LOST.length, to).decimal() ? scan.value : 0;
        if (at >= 0) {
            return true;
        }
        int colon = LineScan.find(b, from, to, new byte[] {':'});
        if (colon < 0) {
            return false;
        }
        scan.over(b, from, to).blanks();
        if (scan.peek() == '(') {
            return four();
        }
        exec = LineScan.find(b, from, colon, EXEC) >= 0;
        return comm(b, colon + 1, to);
    }

    private boolean four() {
        for (int i = 0; i < 4; i++) {
            while (!scan.atEnd() && !LineScan.isDigit(scan.peek())) {
                scan.at++;
            }
            if (!scan.decimal()) {
                return false;
            }
            numbers[i] = scan.value;
        }
        return true;
    }

    private boolean comm(byte[] b, int from, int to) {
        int end = LineScan.trimEnd(b, from, to);
        int colon = end - 1;
        while (colon > from && b[colon] != ':') {
            colon--;
        }
        scan.over(b, from, colon).blanks();
        commFrom = scan.at;
        commTo = Math.max(colon, commFrom);
        scan.over(b, colon + 1, end);
        if (!scan.decimal()) {
            return false;
        }
        numbers[0] = scan.value;
        if (!scan.take('/') || !scan.decimal()) {
            return false;
        }
        numbers[1] = scan.value;
        return true;
    }

    /** Begins a comm record whose name the caller puts. */
    void put(BatchWriter out, PerfText model, long time, PerfHead head) {
        out.begin(time, head.cpu, head.tid, model.comm);
        out.integer(model.field(model.comm, 0), head.pid < 0 ? head.tid : head.pid);
        out.integer(model.field(model.comm, 1), head.tid);
    }

    /** Writes a record. */
    void put(
            BatchWriter out,
            PerfText model,
            EventType type,
            long time,
            PerfHead head,
            byte[] line) {
        out.begin(time, head.cpu, head.tid, type);
        if (type.id() == model.schema.lost.id()) {
            out.sample(-1, lost);
        } else if (type.id() == model.comm.id()) {
            out.integer(model.field(type, 0), numbers[0]);
            out.integer(model.field(type, 1), numbers[1]);
            out.integer(model.field(type, 2), exec ? PerfAbi.PERF_RECORD_MISC_COMM_EXEC : 0);
            out.bytes(model.field(type, 3), line, commFrom, commTo - commFrom);
        } else {
            // The text has pid:tid of the thread, then of its parent.
            out.integer(model.field(type, 0), numbers[0]);
            out.integer(model.field(type, 1), numbers[2]);
            out.integer(model.field(type, 2), numbers[1]);
            out.integer(model.field(type, 3), numbers[3]);
            out.integer(model.field(type, 4), time);
        }
        out.end();
    }
}
