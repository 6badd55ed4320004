package sonde.recording.text;

/** A frame of perf script: {@code address symbol+offset (module)}, each part optional. */
final class PerfFrame {
    private static final byte[] INLINED = KeyValueTokens.bytes("(inlined)");
    private static final byte[] OFFSET = KeyValueTokens.bytes("+0x");

    private final LineScan scan = new LineScan();
    int nameFrom;
    int nameTo;
    int moduleFrom;
    int moduleTo;

    /** Reads one; false when the line holds something else. */
    boolean parse(byte[] b, int from, int to) {
        scan.over(b, from, to).blanks();
        int start = scan.at;
        int end = LineScan.trimEnd(b, start, to);
        boolean address = scan.hex() && (scan.atEnd() || LineScan.isBlank(scan.peek()));
        if (!address) {
            boolean inlined =
                    end - start > INLINED.length
                            && LineScan.startsWith(b, end - INLINED.length, end, INLINED);
            if (!inlined) {
                return false;
            }
            scan.at = start;
        }
        scan.blanks();
        module(b, Math.min(scan.at, end), end);
        cutOffset(b);
        return true;
    }

    /** Takes {@code symbol+0x1f} without the offset. */
    void name(byte[] b, int from, int to) {
        nameFrom = from;
        nameTo = to;
        cutOffset(b);
    }

    private void cutOffset(byte[] b) {
        int offset = lastOffset(b);
        nameTo = offset > nameFrom ? offset : nameTo;
    }

    private void module(byte[] b, int from, int end) {
        nameFrom = from;
        nameTo = end;
        moduleFrom = end;
        moduleTo = end;
        if (end == from || b[end - 1] != ')') {
            return;
        }
        int depth = 0;
        for (int i = end - 1; i >= from; i--) {
            depth += b[i] == ')' ? 1 : b[i] == '(' ? -1 : 0;
            if (depth == 0 && b[i] == '(') {
                if (i == from || LineScan.isBlank(b[i - 1])) {
                    moduleFrom = i + 1;
                    moduleTo = end - 1;
                    nameTo = LineScan.trimEnd(b, from, i);
                }
                return;
            }
        }
    }

    private int lastOffset(byte[] b) {
        int at = nameTo - 1;
        while (at > nameFrom && LineScan.digit(b[at]) >= 0) {
            at--;
        }
        boolean found =
                b.length > at
                        && at - 2 > nameFrom
                        && at < nameTo - 1
                        && b[at] == 'x'
                        && LineScan.startsWith(b, at - 2, nameTo, OFFSET);
        return found ? at - 2 : -1;
    }
}
