package sonde.format.text;

/**
 * The head of a sample in the text of perf script: {@code comm pid/tid [cpu] time: period event:},
 * of which the fields chosen with -F are there (tools/perf/builtin-script.c,
 * perf_sample__fprintf_start and process_event).
 */
final class PerfHead {
    private static final int MOST_COLUMNS = 256;
    private static final byte[] RECORD = Tokens.bytes("PERF_RECORD_");

    private final Scan scan = new Scan();

    int commFrom;
    int commTo;

    /** -1 when the text tells only one number, or none. */
    int pid;

    int tid;
    int cpu;
    long time;
    boolean timed;

    /** -1 for none. */
    long period;

    int eventFrom;
    int eventTo;

    /** What follows the event's name. */
    int rest;

    /** Whether it is no sample but a record that perf itself made. */
    boolean record;

    /** Reads the head of a line; false when it has none. */
    boolean parse(byte[] b, int from, int to) {
        scan.over(b, from, to).blanks();
        int start = scan.at;
        int end = Math.min(to, start + MOST_COLUMNS);
        // The name may have blanks and digits: the first number that the rest fits is the thread.
        for (int i = start; i < end; i++) {
            boolean begins = Scan.isDigit(b[i]) || b[i] == '-' && i + 1 < end && b[i + 1] == '1';
            if (begins && i > start && Scan.isBlank(b[i - 1]) && thread(b, start, i, to)) {
                return true;
            }
        }
        return false;
    }

    private boolean thread(byte[] b, int start, int at, int to) {
        commFrom = start;
        commTo = Scan.trimEnd(b, start, at);
        pid = -1;
        scan.over(b, at, to);
        if (!scan.signed() || scan.value > Integer.MAX_VALUE) {
            return false;
        }
        tid = (int) scan.value;
        if (scan.take('/')) {
            pid = tid;
            if (!scan.signed() || scan.value > Integer.MAX_VALUE) {
                return false;
            }
            tid = (int) scan.value;
        }
        return scan.blanks() && place() && event(b, to);
    }

    /** CPU and time. */
    private boolean place() {
        cpu = -1;
        timed = false;
        time = 0;
        if (scan.take('[')) {
            if (!scan.signed() || scan.value > Short.MAX_VALUE || !scan.take(']')) {
                return false;
            }
            cpu = (int) scan.value;
            scan.blanks();
        }
        int start = scan.at;
        if (scan.seconds() && scan.fraction > 0 && scan.take(':')) {
            timed = true;
            time = scan.value;
        } else {
            scan.at = start;
        }
        scan.blanks();
        return true;
    }

    private boolean event(byte[] b, int to) {
        period = -1;
        int start = scan.at;
        if (scan.decimal() && Scan.isBlank(scan.peek())) {
            period = scan.value;
            scan.blanks();
        } else {
            scan.at = start;
        }
        eventFrom = scan.at;
        record = Scan.startsWith(b, eventFrom, to, RECORD);
        if (record) {
            int at = eventFrom;
            while (at < to && Scan.isLetter(b[at]) || at < to && Scan.isDigit(b[at])) {
                at++;
            }
            eventTo = at;
            rest = at;
            return true;
        }
        scan.word();
        eventTo = scan.at - 1;
        rest = scan.at;
        boolean named = eventTo > eventFrom && b[eventTo] == ':' && !isNumber(b);
        return named || scan.atEnd() && eventFrom == scan.at && (timed || cpu >= 0);
    }

    private boolean isNumber(byte[] b) {
        for (int i = eventFrom; i < eventTo; i++) {
            if (!Scan.isDigit(b[i]) && b[i] != '.') {
                return false;
            }
        }
        return true;
    }
}
