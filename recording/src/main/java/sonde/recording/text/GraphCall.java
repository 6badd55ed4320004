package sonde.recording.text;

import java.nio.charset.StandardCharsets;

/**
 * The duration and the call of a line of function_graph: {@code "+ 90.244 us | mutex_unlock();"}.
 */
final class GraphCall {
    private static final byte[] FUNC = KeyValueTokens.bytes("func");
    private static final byte[] DEPTH = KeyValueTokens.bytes("depth");
    private static final byte[] DURATION = KeyValueTokens.bytes("duration");
    private static final byte[] RETVAL = KeyValueTokens.bytes("retval");
    private static final byte[] US = KeyValueTokens.bytes("us");

    /** The column where the outermost call begins, behind the bar. */
    private static final int OUTERMOST = 2;

    private final LineScan scan = new LineScan();
    private byte[] made = new byte[256];
    private int size;

    /** Nanoseconds of the call that ends here; -1 when the line has none. */
    long duration;

    int depth;

    /** Whether a call begins here that does not end here. */
    boolean opens;

    /** Whether a call ends here that began before. */
    boolean closes;

    /** Where a comment's text begins, -1 for none: an event between the calls. */
    int comment;

    int commentEnd;

    /** Reads {@code duration | call}; false when it is something else. */
    boolean parse(byte[] b, int from, int to, KeyValueTokens tokens) {
        int bar = LineScan.find(b, from, to, new byte[] {'|'});
        if (bar < 0 || !duration(b, from, bar)) {
            return false;
        }
        return call(b, bar + 1, to, tokens);
    }

    /** Reads the duration: {@code " 7.331 us "}, {@code "! 124.2 us"}, or blanks. */
    boolean duration(byte[] b, int from, int to) {
        duration = -1;
        scan.over(b, from, to).blanks();
        if (scan.atEnd()) {
            return true;
        }
        if (!LineScan.isDigit(scan.peek())) {
            scan.at++; // one of $ @ * # ! +, for how long it is
            scan.blanks();
        }
        if (!scan.seconds()) {
            return false;
        }
        duration = scan.value / 1_000_000;
        scan.blanks();
        return scan.take(US);
    }

    /** Reads the call; the tokens get fields of its own bytes. */
    boolean call(byte[] b, int from, int to, KeyValueTokens tokens) {
        scan.over(b, from, to).blanks();
        depth = Math.max(0, (scan.at - from - OUTERMOST) / 2);
        int start = scan.at;
        int end = LineScan.trimEnd(b, start, to);
        comment = -1;
        opens = false;
        closes = false;
        if (start == end) {
            return false;
        }
        if (b[start] == '/' && start + 1 < end && b[start + 1] == '*') {
            comment = start + 2;
            commentEnd = end - start > 3 && b[end - 1] == '/' ? end - 2 : end;
            return true;
        }
        int name = start;
        int nameEnd = start;
        int behind = start;
        if (b[start] == '}') {
            closes = true;
            int open = LineScan.find(b, start, end, new byte[] {'/', '*'});
            if (open > 0) {
                scan.over(b, open + 2, end).blanks();
                name = scan.at;
                scan.word();
                nameEnd = scan.at;
                behind = scan.at;
            }
        } else {
            while (nameEnd < end && b[nameEnd] != '(' && !LineScan.isBlank(b[nameEnd])) {
                nameEnd++;
            }
            behind = LineScan.afterModule(b, nameEnd, end);
            if (nameEnd == start || behind == end || b[behind] != '(') {
                return false;
            }
            opens = LineScan.find(b, behind, end, new byte[] {' ', '{'}) >= 0;
        }
        put(b, name, nameEnd, tokens);
        value(b, behind, end, tokens);
        return true;
    }

    private void put(byte[] b, int name, int nameEnd, KeyValueTokens tokens) {
        size = 0;
        int nameLength = Math.min(nameEnd - name, 4096);
        String numbers = depth + " " + Math.max(duration, 0);
        byte[] ascii = numbers.getBytes(StandardCharsets.US_ASCII);
        if (made.length < nameLength + ascii.length + 64) {
            made = new byte[nameLength + ascii.length + 64];
        }
        System.arraycopy(b, name, made, 0, nameLength);
        System.arraycopy(ascii, 0, made, nameLength, ascii.length);
        size = nameLength + ascii.length;
        int blank = nameLength + Integer.toString(depth).length();
        tokens.pairs(made, 0, 0);
        tokens.add(FUNC, 0, nameLength);
        tokens.add(DEPTH, nameLength, blank);
        if (duration >= 0) {
            tokens.add(DURATION, blank + 1, size);
        }
    }

    /** {@code /* = 0x0 *}{@code /} or {@code /* ret=0 *}{@code /}: what the function returned. */
    private void value(byte[] b, int from, int end, KeyValueTokens tokens) {
        int equals = LineScan.find(b, from, end, new byte[] {'='});
        if (equals < 0 || LineScan.find(b, from, equals, new byte[] {'*'}) < 0 && !closes) {
            return;
        }
        scan.over(b, equals + 1, end).blanks();
        int start = scan.at;
        scan.word();
        int length = scan.at - start;
        if (length > 0 && size + length <= made.length && length < 32) {
            System.arraycopy(b, start, made, size, length);
            tokens.add(RETVAL, size, size + length);
        }
    }
}
