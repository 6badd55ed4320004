package sonde.recording.text;

/**
 * A call, the part of one, a signal or an end in a line of strace. Strings are skipped with their
 * escapes, so that a bracket or an equals sign in one means nothing.
 */
final class StraceCall {
    private static final byte[] UNFINISHED = KeyValueTokens.bytes("<unfinished ...>");
    private static final byte[] DETACHED = KeyValueTokens.bytes("<detached ...>");
    private static final byte[] RESUMED = KeyValueTokens.bytes("<... ");
    private static final byte[] RESUMED_END = KeyValueTokens.bytes(" resumed>");
    private static final byte[] SIGNAL = KeyValueTokens.bytes("--- ");
    private static final byte[] END = KeyValueTokens.bytes("+++ ");
    private static final byte[] EXITED = KeyValueTokens.bytes("exited with ");
    private static final byte[] KILLED = KeyValueTokens.bytes("killed by ");

    /** What a line holds. */
    enum Kind {
        /** Nothing of strace. */
        NONE,
        WHOLE,
        UNFINISHED,
        RESUMED,
        SIGNAL,
        EXITED,
        KILLED,
        /** A remark of strace. */
        REMARK,
    }

    private final LineScan scan = new LineScan();

    Kind kind = Kind.NONE;
    int nameFrom;
    int nameTo;
    int argumentsFrom;
    int argumentsTo;

    /** Whether the result is there: not for {@code = ?}. */
    boolean returns;

    long result;
    int errorFrom;
    int errorTo;

    /** Nanoseconds in the call, -1 when the line has none. */
    long duration;

    /** The status of an exit. */
    int status;

    /** Reads what stands behind the head. */
    Kind parse(byte[] b, int from, int to) {
        duration = -1;
        open = false;
        returns = false;
        errorTo = 0;
        errorFrom = 0;
        int end = duration(b, from, LineScan.trimEnd(b, from, to));
        scan.over(b, from, end);
        if (scan.take(RESUMED)) {
            return resumed(b, end);
        }
        if (scan.take(SIGNAL)) {
            int start = scan.at;
            scan.word();
            return named(Kind.SIGNAL, start, scan.at, end);
        }
        if (scan.take(END)) {
            return ended(end);
        }
        int start = scan.at;
        while (scan.at < end && isNameByte(b[scan.at])) {
            scan.at++;
        }
        if (scan.at == start || scan.peek() != '(' || LineScan.isDigit(b[start])) {
            boolean remark = LineScan.startsWith(b, from, end, STRACE);
            kind = remark ? Kind.REMARK : Kind.NONE;
            return kind;
        }
        nameFrom = start;
        nameTo = scan.at;
        argumentsFrom = scan.at + 1;
        open = true;
        return call(b, end);
    }

    private static final byte[] STRACE = KeyValueTokens.bytes("strace: ");

    private static boolean isNameByte(byte b) {
        return b >= 'a' && b <= 'z' || b == '_' || LineScan.isDigit(b) || b >= 'A' && b <= 'Z';
    }

    /** Whether a line of kind NONE begins as a call does. */
    boolean begins() {
        return open;
    }

    private boolean open;

    private Kind named(Kind found, int from, int nameEnd, int to) {
        kind = found;
        nameFrom = from;
        nameTo = nameEnd;
        argumentsFrom = nameEnd;
        argumentsTo = to;
        return found;
    }

    private Kind call(byte[] b, int end) {
        kind = Kind.UNFINISHED;
        if (endsWith(b, argumentsFrom, end, UNFINISHED)) {
            argumentsTo = LineScan.trimEnd(b, argumentsFrom, end - UNFINISHED.length);
            return kind;
        }
        if (endsWith(b, argumentsFrom, end, DETACHED)) {
            argumentsTo = LineScan.trimEnd(b, argumentsFrom, end - DETACHED.length);
            return kind;
        }
        int close = close(b, argumentsFrom, end, 1);
        if (close < 0 || !result(b, close + 1, end)) {
            kind = Kind.NONE;
            return kind;
        }
        argumentsTo = close;
        kind = Kind.WHOLE;
        return kind;
    }

    private Kind resumed(byte[] b, int end) {
        int start = scan.at;
        int mark = LineScan.find(b, start, end, RESUMED_END);
        if (mark < 0) {
            kind = Kind.NONE;
            return kind;
        }
        named(Kind.RESUMED, start, mark, end);
        argumentsFrom = mark + RESUMED_END.length;
        int close = close(b, argumentsFrom, end, 1);
        argumentsTo = Math.max(close, argumentsFrom);
        if (close >= 0) {
            result(b, close + 1, end);
        }
        return kind;
    }

    private Kind ended(int end) {
        status = 0;
        if (scan.take(EXITED)) {
            status = scan.decimal() ? (int) scan.value << 8 : 0;
            return named(Kind.EXITED, scan.at, scan.at, end);
        }
        if (scan.take(KILLED)) {
            int start = scan.at;
            scan.word();
            return named(Kind.KILLED, start, scan.at, end);
        }
        return named(Kind.REMARK, scan.at, scan.at, end);
    }

    private static boolean endsWith(byte[] b, int from, int end, byte[] word) {
        return end - from >= word.length && LineScan.startsWith(b, end - word.length, end, word);
    }

    /** Takes {@code <0.000227>} off the end. */
    private int duration(byte[] b, int from, int to) {
        if (to - from < 5 || b[to - 1] != '>') {
            return to;
        }
        int open = to - 1;
        while (open > from && b[open] != '<') {
            open--;
        }
        scan.over(b, open + 1, to - 1);
        if (b[open] != '<' || !scan.seconds() || !scan.atEnd() || scan.fraction <= 0) {
            return to;
        }
        duration = scan.value;
        return LineScan.trimEnd(b, from, open);
    }

    /** The parenthesis that closes {@code depth} open ones; -1 when there is none. */
    private static int close(byte[] b, int from, int end, int depth) {
        int open = depth;
        for (int i = from; i < end; i++) {
            switch (b[i]) {
                case '"' -> i = quoted(b, i, end);
                case '(', '[', '{' -> open++;
                case ')', ']', '}' -> {
                    if (--open == 0) {
                        return b[i] == ')' ? i : lastClose(b, from, end);
                    }
                }
                case '<' -> {
                    // -y: 3</tmp/file>, the path as it is
                    if (i > from && LineScan.isDigit(b[i - 1]) && i + 1 < end && b[i + 1] != '<') {
                        i = path(b, i, end);
                    }
                }
                default -> {}
            }
        }
        return lastClose(b, from, end);
    }

    private static int path(byte[] b, int open, int end) {
        for (int i = open + 1; i < end; i++) {
            if (b[i] == '>' && b[i - 1] != '-') {
                return i;
            }
        }
        return open;
    }

    private static int quoted(byte[] b, int open, int end) {
        for (int i = open + 1; i < end; i++) {
            if (b[i] == '\\') {
                i++;
            } else if (b[i] == '"') {
                return i;
            }
        }
        return end;
    }

    /** Where brackets do not pair (a string cut by -s has its quote): the last {@code ") ="}. */
    private static int lastClose(byte[] b, int from, int end) {
        for (int i = end - 3; i >= from; i--) {
            if (b[i] == '=' && b[i + 1] == ' ') {
                int close = LineScan.trimEnd(b, from, i) - 1;
                if (close >= from && b[close] == ')') {
                    return close;
                }
            }
        }
        return -1;
    }

    /** {@code = 3}, {@code = -1 ENOENT (…)}, {@code = 0x7f…}, {@code = ?}. */
    private boolean result(byte[] b, int from, int end) {
        scan.over(b, from, end).blanks();
        if (!scan.take('=')) {
            return false;
        }
        scan.blanks();
        if (scan.take('?')) {
            result = 0;
            errorName(b);
            returns = errorTo > errorFrom;
            return true;
        }
        if (scan.take(ZERO_X)) {
            returns = scan.hex();
        } else {
            returns = scan.signed();
        }
        result = scan.value;
        if (result == -1) {
            errorName(b);
        }
        return returns;
    }

    private static final byte[] ZERO_X = KeyValueTokens.bytes("0x");

    private void errorName(byte[] b) {
        scan.blanks();
        errorFrom = scan.at;
        while (!scan.atEnd() && (LineScan.isLetter(scan.peek()) || LineScan.isDigit(scan.peek()))) {
            scan.at++;
        }
        errorTo = errorFrom < scan.at && b[errorFrom] == 'E' ? scan.at : errorFrom;
    }
}
