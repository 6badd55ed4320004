package sonde.recording.text;

/**
 * The head of a sample in the text of perf script: {@code comm pid/tid [cpu] time: period event:},
 * of which the fields chosen with -F are there (tools/perf/builtin-script.c,
 * perf_sample__fprintf_start and process_event).
 */
final class PerfHead {
    private static final int MOST_COLUMNS = 256;
    // PID_MAX_LIMIT of the kernel
    private static final int MOST_TID = 1 << 22;
    // "%10" PRIu64 " " of builtin-script.c; behind a name one blank more
    private static final int PERIOD_COLUMNS = 10;
    // TASK_COMM_LEN
    private static final int MOST_COMM = 16;
    // perf_sample__fprintf_misc: kernel, user, hypervisor, guests; data, exec, switched out
    private static final String MISC = "KUHGgDESp";
    private static final byte[] RECORD = KeyValueTokens.bytes("PERF_RECORD_");

    private final LineScan scan = new LineScan();

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

    /**
     * Whether {@link #loose} found a time, a period or a tracepoint, which few other lines have.
     */
    boolean anchored;

    /** Reads the head of a line; false when it has none. */
    boolean parse(byte[] b, int from, int to) {
        scan.over(b, from, to).blanks();
        int start = scan.at;
        int end = Math.min(to, start + MOST_COLUMNS);
        // The name may have blanks and digits: the first number that the rest fits is the thread.
        for (int i = start; i < end; i++) {
            boolean begins =
                    LineScan.isDigit(b[i]) || b[i] == '-' && i + 1 < end && b[i + 1] == '1';
            if (begins && i > start && LineScan.isBlank(b[i - 1]) && thread(b, start, i, to)) {
                return true;
            }
        }
        return false;
    }

    private boolean thread(byte[] b, int start, int at, int to) {
        commFrom = start;
        commTo = LineScan.trimEnd(b, start, at);
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
        boolean wide = pid < 0 && isPeriod(b, start, at);
        return scan.blanks() && place() && event(b, to) && (timed || cpu >= 0 || !wide);
    }

    /** Whether the number just read is a period: "%10lu", or too large for a thread. */
    private boolean isPeriod(byte[] b, int start, int at) {
        int blanks = at;
        while (blanks > start && LineScan.isBlank(b[blanks - 1])) {
            blanks--;
        }
        return scan.value > MOST_TID || scan.at - blanks > PERIOD_COLUMNS;
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
        misc();
        if (scan.seconds() && scan.fraction > 0 && scan.take(':')) {
            timed = true;
            time = scan.value;
        } else {
            scan.at = start;
        }
        scan.blanks();
        return true;
    }

    /** The letters of {@code -F misc} before a time. */
    private void misc() {
        int at = scan.at;
        while (scan.at - at < MISC.length() && MISC.indexOf(scan.peek()) >= 0) {
            scan.at++;
        }
        if (!scan.blanks()) {
            scan.at = at;
        }
    }

    private boolean event(byte[] b, int to) {
        period = -1;
        int start = scan.at;
        if (scan.decimal() && LineScan.isBlank(scan.peek())) {
            period = scan.value;
            scan.blanks();
        } else {
            scan.at = start;
        }
        eventFrom = scan.at;
        record = LineScan.startsWith(b, eventFrom, to, RECORD);
        if (record) {
            int at = eventFrom;
            while (at < to && LineScan.isLetter(b[at]) || at < to && LineScan.isDigit(b[at])) {
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
            if (!LineScan.isDigit(b[i]) && b[i] != '.') {
                return false;
            }
        }
        return true;
    }

    /**
     * Reads a head of which -F left out thread or event: any of name, thread, CPU, time, period and
     * event, in this order, each at most once.
     */
    boolean loose(byte[] b, int from, int to) {
        int end = LineScan.trimEnd(b, from, to);
        pid = -1;
        tid = -1;
        period = -1;
        record = false;
        scan.over(b, from, end).blanks();
        commFrom = scan.at;
        int at = commFrom;
        while (at < end && !begins(b, at, end)) {
            scan.at = at;
            scan.word();
            scan.blanks();
            at = scan.at;
        }
        commTo = LineScan.trimEnd(b, commFrom, at);
        if (commTo - commFrom > MOST_COMM || end == commFrom) {
            return false;
        }
        scan.at = at;
        numbers(b, commTo);
        place();
        boolean one = period >= 0;
        if (!one && scan.decimal() && (scan.atEnd() || LineScan.isBlank(scan.peek()))) {
            period = scan.value;
        }
        scan.blanks();
        return looseEvent(b, end);
    }

    /** Whether the word here is none of a thread's name. */
    private boolean begins(byte[] b, int at, int end) {
        int stop = at;
        while (stop < end && !LineScan.isBlank(b[stop])) {
            stop++;
        }
        scan.at = at;
        if (scan.take('[')) {
            return scan.decimal() && scan.take(']') && scan.at == stop;
        }
        if (scan.seconds()) {
            boolean whole = scan.fraction < 0 && scan.at == stop;
            if (scan.fraction < 0 && scan.take('/')) {
                return scan.signed() && scan.at == stop;
            }
            return whole || isTime() && scan.take(':') && scan.at == stop;
        }
        return isQualified(b, at, stop) || stop == end && isName(b, at, stop);
    }

    // "%6" or, with --ns, "%9" digits behind the point
    private boolean isTime() {
        return scan.fraction == 6 || scan.fraction == 9;
    }

    private void numbers(byte[] b, int before) {
        int start = scan.at;
        if (!scan.decimal()) {
            return;
        }
        long first = scan.value;
        if (scan.take('/') && scan.signed()) {
            pid = (int) Math.min(first, MOST_TID);
            tid = (int) Math.min(scan.value, MOST_TID);
        } else if (!scan.atEnd() && !LineScan.isBlank(scan.peek())) {
            scan.at = start; // a time
        } else if (isPeriod(b, before, start)) {
            period = first;
        } else {
            tid = (int) first;
        }
        scan.blanks();
    }

    private boolean looseEvent(byte[] b, int end) {
        eventFrom = scan.at;
        scan.word();
        boolean qualified = isQualified(b, eventFrom, scan.at);
        boolean event = qualified || isName(b, eventFrom, scan.at) && (timed || scan.at == end);
        anchored = timed || qualified || event && period >= 0;
        if (event) {
            eventTo = scan.at - 1;
            rest = scan.at;
            return true;
        }
        eventTo = eventFrom;
        rest = eventFrom;
        // An address may follow a time; else nothing does.
        return eventFrom == end || timed && scan.at - eventFrom >= 8 && isHex(b, eventFrom);
    }

    private boolean isHex(byte[] b, int from) {
        for (int i = from; i < scan.at; i++) {
            if (LineScan.digit(b[i]) < 0) {
                return false;
            }
        }
        return true;
    }

    /** {@code name:}. */
    private static boolean isName(byte[] b, int from, int to) {
        return to - from > 1 && b[to - 1] == ':' && LineScan.isLetter(b[from]);
    }

    /** {@code system:name:}. */
    private static boolean isQualified(byte[] b, int from, int to) {
        int colons = 0;
        for (int i = from; i < to; i++) {
            boolean part = LineScan.isLetter(b[i]) || LineScan.isDigit(b[i]) || b[i] == '-';
            if (b[i] == ':' && i > from && b[i - 1] != ':') {
                colons++;
            } else if (!part) {
                return false;
            }
        }
        return colons == 2 && isName(b, from, to);
    }
}
