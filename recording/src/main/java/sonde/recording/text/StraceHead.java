package sonde.recording.text;

/**
 * What stands before a call in a line of strace, each part where its option was given: {@code 123},
 * {@code [pid 123]} or {@code 123<comm>} (-f, -Y), the time of day, since the epoch or since the
 * line before (-t, -tt, -ttt, -r), {@code [ 59]} (-n), {@code [00007f…]} (-i).
 */
final class StraceHead {
    private static final byte[] PID = KeyValueTokens.bytes("[pid");
    private static final byte[] PLUS = KeyValueTokens.bytes("(+");
    private static final long SECOND = 1_000_000_000L;

    /** Smaller numbers are distances, larger ones count from 1970: 1973 and later. */
    private static final long LEAST_EPOCH = 100_000_000L * SECOND;

    /** What the time of a line is. */
    enum Kind {
        NONE,
        OF_DAY,
        EPOCH,
        RELATIVE,
    }

    private final LineScan scan = new LineScan();

    /** -1 when the line has none. */
    int tid;

    int commFrom;
    int commTo;
    Kind kind = Kind.NONE;
    long time;

    /** Where the call begins. */
    int body;

    /** Reads the head; what remains may be anything. */
    void parse(byte[] b, int from, int to) {
        tid = -1;
        commFrom = 0;
        commTo = 0;
        kind = Kind.NONE;
        scan.over(b, from, to);
        thread();
        time();
        scan.blanks();
        brackets();
        body = scan.at;
    }

    private void thread() {
        int start = scan.at;
        boolean bracket = scan.take(PID);
        scan.blanks();
        if (!scan.decimal() || scan.value > Integer.MAX_VALUE) {
            scan.at = start;
            return;
        }
        long number = scan.value;
        if (scan.take('<')) {
            commFrom = scan.at;
            while (!scan.atEnd() && scan.peek() != '>') {
                scan.at++;
            }
            commTo = scan.at;
            scan.take('>');
        }
        boolean ends = bracket ? scan.take(']') : LineScan.isBlank(scan.peek());
        if (!ends) {
            scan.at = start;
            commTo = commFrom;
            return;
        }
        tid = (int) number;
    }

    private void time() {
        scan.blanks();
        int start = scan.at;
        if (clock()) {
            scan.blanks();
            distance();
            return;
        }
        scan.at = start;
        if (!scan.seconds() || !LineScan.isBlank(scan.peek())) {
            scan.at = start;
            return;
        }
        time = scan.value;
        if (time < LEAST_EPOCH && scan.fraction < 0) {
            scan.at = start;
            return;
        }
        kind = time < LEAST_EPOCH ? Kind.RELATIVE : Kind.EPOCH;
        scan.blanks();
        distance();
    }

    /** {@code 22:31:27} or {@code 22:31:27.468902}. */
    private boolean clock() {
        if (!scan.decimal() || scan.value > 24) {
            return false;
        }
        long hours = scan.value;
        if (!scan.take(':') || !scan.decimal() || scan.value > 60) {
            return false;
        }
        long minutes = scan.value;
        if (!scan.take(':') || !scan.seconds() || scan.value > 61 * SECOND) {
            return false;
        }
        time = (hours * 60 + minutes) * 60 * SECOND + scan.value;
        kind = Kind.OF_DAY;
        return true;
    }

    /** {@code (+ 0.000343)}: -r beside another time. */
    private void distance() {
        int start = scan.at;
        if (scan.take(PLUS)) {
            scan.blanks();
            if (scan.seconds() && scan.take(')')) {
                return;
            }
        }
        scan.at = start;
    }

    private void brackets() {
        while (scan.peek() == '[') {
            int start = scan.at;
            scan.at++;
            scan.blanks();
            if (!scan.hex() && !scan.take(UNKNOWN) || !scan.take(']')) {
                scan.at = start;
                return;
            }
            scan.blanks();
        }
    }

    private static final byte[] UNKNOWN = KeyValueTokens.bytes("????????????????");
}
