package sonde.recording.text;

/**
 * The head of an event's line, up to what the event tells. Three shapes, after {@code
 * trace_print_context} and {@code trace_print_lat_context} of kernel/trace/trace_output.c and
 * {@code trace-cmd report}:
 *
 * <pre>
 *      comm-pid   (tgid) [cpu] d..2.  seconds.micros: …
 *      comm-pid    cpud..2.   123us!: …
 *   buffer:    comm-pid   [cpu]   seconds.nanos: …
 * </pre>
 */
final class FtraceHead {
    private static final int LATENCY_FLAGS = 4;
    private static final int MOST_FLAGS = 8;
    private static final int COMM_COLUMNS = 17;

    // include/linux/trace_events.h, enum trace_flag_type
    private static final int TRACE_FLAG_IRQS_OFF = 0x01;
    private static final int TRACE_FLAG_IRQS_NOSUPPORT = 0x02;
    private static final int TRACE_FLAG_NEED_RESCHED = 0x04;
    private static final int TRACE_FLAG_HARDIRQ = 0x08;
    private static final int TRACE_FLAG_SOFTIRQ = 0x10;
    private static final int TRACE_FLAG_PREEMPT_RESCHED = 0x20;
    private static final int TRACE_FLAG_NMI = 0x40;
    private static final int TRACE_FLAG_BH_OFF = 0x80;

    private final LineScan scan = new LineScan();

    int labelFrom;
    int labelTo;
    int commFrom;
    int commTo;
    int tid;

    /** -1 when the line has none. */
    int tgid;

    int cpu;

    /** As common_flags of an event in the ring. */
    int flags;

    int preemptCount;

    /** Nanoseconds, or a count where {@link #raw}. */
    long time;

    /** Whether the time has no point: a clock that counts something else. */
    boolean raw;

    /** Where what the event tells begins. */
    int info;

    /** Reads the head of a line; false when it has none. */
    boolean parse(byte[] b, int from, int to) {
        int end = Math.min(to, from + 256);
        for (int i = from + 1; i < end; i++) {
            if (b[i] == '[' && bracket(b, from, i, to)) {
                return true;
            }
        }
        for (int i = from + 1; i < end; i++) {
            if (b[i] == '-' && latency(b, from, i, to)) {
                return true;
            }
        }
        return false;
    }

    private boolean bracket(byte[] b, int from, int open, int to) {
        scan.over(b, open + 1, to);
        if (!scan.decimal() || scan.value > Short.MAX_VALUE || !scan.take(']')) {
            return false;
        }
        cpu = (int) scan.value;
        int behind = scan.at;
        return thread(b, from, open) && irq(b, behind, to) && clock(to);
    }

    /** {@code label: comm-pid (tgid)} before the CPU. */
    private boolean thread(byte[] b, int from, int end) {
        int at = LineScan.trimEnd(b, from, end);
        tgid = -1;
        if (at > from && b[at - 1] == ')') {
            int open = at - 1;
            while (open > from && b[open] != '(') {
                open--;
            }
            scan.over(b, open + 1, at - 1).blanks();
            tgid = scan.decimal() && scan.value <= Integer.MAX_VALUE ? (int) scan.value : -1;
            at = LineScan.trimEnd(b, from, open);
        }
        int dash = at - 1;
        while (dash > from && LineScan.isDigit(b[dash])) {
            dash--;
        }
        scan.over(b, dash + 1, at);
        if (dash <= from || b[dash] != '-' || !scan.decimal() || scan.value > Integer.MAX_VALUE) {
            return false;
        }
        tid = (int) scan.value;
        name(b, from, dash);
        return true;
    }

    private void name(byte[] b, int from, int dash) {
        scan.over(b, from, dash).blanks();
        commFrom = scan.at;
        commTo = dash;
        labelFrom = from;
        labelTo = from;
        if (dash - from <= COMM_COLUMNS) {
            return;
        }
        scan.word();
        // trace-cmd puts the instance before a name of 16 columns.
        if (scan.at < dash && b[scan.at - 1] == ':') {
            labelFrom = commFrom;
            labelTo = scan.at - 1;
            scan.blanks();
            commFrom = scan.at;
        }
    }

    /** Between the CPU and the time. */
    private boolean irq(byte[] b, int from, int to) {
        flags = 0;
        preemptCount = 0;
        scan.over(b, from, to).blanks();
        int start = scan.at;
        if (isTime(b, start, to)) {
            return true;
        }
        scan.word();
        if (!takeFlags(b, start, scan.at)) {
            return false;
        }
        scan.blanks();
        return true;
    }

    private static boolean isTime(byte[] b, int from, int to) {
        int i = from;
        while (i < to && LineScan.isDigit(b[i])) {
            i++;
        }
        return i > from
                && i < to
                && (b[i] == '.' && i + 1 < to && LineScan.isDigit(b[i + 1]) || b[i] == ':');
    }

    private boolean takeFlags(byte[] b, int from, int to) {
        int count = to - from;
        if (count < LATENCY_FLAGS - 1 || count > MOST_FLAGS) {
            return false;
        }
        for (int i = from; i < to; i++) {
            if (b[i] != '.' && b[i] != '#' && !LineScan.isDigit(b[i]) && !LineScan.isLetter(b[i])) {
                return false;
            }
        }
        flags =
                switch (b[from]) {
                    case 'd' -> TRACE_FLAG_IRQS_OFF;
                    case 'D' -> TRACE_FLAG_IRQS_OFF | TRACE_FLAG_BH_OFF;
                    case 'b' -> TRACE_FLAG_BH_OFF;
                    case 'X' -> TRACE_FLAG_IRQS_NOSUPPORT;
                    default -> 0;
                };
        flags |=
                switch (b[from + 1]) {
                    case 'N', 'B' -> TRACE_FLAG_NEED_RESCHED | TRACE_FLAG_PREEMPT_RESCHED;
                    case 'n', 'L' -> TRACE_FLAG_NEED_RESCHED;
                    case 'p' -> TRACE_FLAG_PREEMPT_RESCHED;
                    default -> 0;
                };
        flags |=
                switch (b[from + 2]) {
                    case 'Z' -> TRACE_FLAG_NMI | TRACE_FLAG_HARDIRQ;
                    case 'z' -> TRACE_FLAG_NMI;
                    case 'H' -> TRACE_FLAG_HARDIRQ | TRACE_FLAG_SOFTIRQ;
                    case 'h' -> TRACE_FLAG_HARDIRQ;
                    case 's' -> TRACE_FLAG_SOFTIRQ;
                    default -> 0;
                };
        int depth = count > 3 ? LineScan.digit(b[from + 3]) : -1;
        int migrate = count > 4 ? LineScan.digit(b[from + 4]) : -1;
        preemptCount = Math.max(depth, 0) | Math.max(migrate, 0) << 4;
        return true;
    }

    /** The time and the colon behind it; {@link #scan} stands before the time. */
    private boolean clock(int to) {
        if (!scan.seconds()) {
            return count();
        }
        time = scan.value;
        raw = scan.fraction < 0;
        if (raw) {
            time = scan.value / 1_000_000_000;
        }
        if (scan.peek() == 'u') {
            return micros(to);
        }
        info = scan.at + 1;
        return scan.take(':');
    }

    /** A count that is too large for seconds. */
    private boolean count() {
        if (!scan.decimal()) {
            return false;
        }
        time = scan.value;
        raw = true;
        info = scan.at + 1;
        return scan.take(':');
    }

    private static final byte[] US = KeyValueTokens.bytes("us");

    /** {@code 123us!:}, a mark for the length of the step. */
    private boolean micros(int to) {
        time = raw ? time * 1000 : time / 1_000_000;
        raw = false;
        if (!scan.take(US)) {
            return false;
        }
        if (scan.peek() != ':' && scan.at < to) {
            scan.at++;
        }
        info = scan.at + 1;
        return scan.take(':');
    }

    /** {@code comm-pid 3d..1 12us : }, the dash at {@code dash}. */
    private boolean latency(byte[] b, int from, int dash, int to) {
        scan.over(b, dash + 1, to);
        if (!scan.decimal() || scan.value > Integer.MAX_VALUE) {
            return false;
        }
        tid = (int) scan.value;
        if (!scan.blanks()) {
            return false;
        }
        int start = scan.at;
        if (!scan.decimal() || scan.value > Short.MAX_VALUE) {
            return false;
        }
        cpu = (int) scan.value;
        int flagsAt = scan.at;
        scan.at = start;
        scan.word();
        if (!takeFlags(b, flagsAt, scan.at) || !scan.blanks()) {
            return false;
        }
        tgid = -1;
        int timeAt = scan.at;
        name(b, from, dash);
        scan.over(b, timeAt, to);
        return clock(to);
    }
}
