package sonde.recording.text;

import java.nio.charset.StandardCharsets;

/**
 * What an event tells behind its name, taken apart into keys and values: {@code key=value key=…},
 * where a value goes on to the next key, and the forms of the scheduler's events in {@code
 * trace-cmd report}. The parts lie in the line.
 */
final class KeyValueTokens {
    /** More pairs of a line are left out. */
    static final int MOST = 64;

    private static final byte[] ARROW = bytes("==>");
    private static final byte[] UNIT = bytes(" [ns]");

    final byte[][] keys = new byte[MOST][];
    final int[] keyFrom = new int[MOST];
    final int[] keyTo = new int[MOST];
    final int[] from = new int[MOST];
    final int[] to = new int[MOST];
    private final LineScan scan = new LineScan();
    byte[] line = {};
    int count;

    /** Whether there is text that belongs to no pair. */
    boolean rest;

    static byte[] bytes(String ascii) {
        return ascii.getBytes(StandardCharsets.UTF_8);
    }

    static String ascii(byte[] b, int from, int to) {
        return new String(b, from, to - from, StandardCharsets.US_ASCII);
    }

    private void clear(byte[] in) {
        line = in;
        count = 0;
        rest = false;
    }

    /** Finds {@code key=value} pairs. */
    void pairs(byte[] in, int start, int end) {
        clear(in);
        int run = start;
        int open = -1;
        for (int i = start; i < end; i++) {
            byte b = in[i];
            if (b == '=' && isKey(in, start, run, i) && i + 1 < end && count < MOST) {
                close(open, run);
                if (open < 0 && run > start) {
                    rest = true;
                }
                open = count;
                put(in, run, i, i + 1, end);
                if (in[i + 1] == '"') {
                    i = quoted(in, i + 1, end);
                }
                run = i + 1;
            } else if (!isKeyByte(b)) {
                run = i + 1;
            }
        }
        close(open, end);
        rest |= open < 0 && end > start;
    }

    private static boolean isKey(byte[] in, int start, int run, int end) {
        if (run == end || !LineScan.isLetter(in[run]) && in[run] != '$') {
            return false;
        }
        return run == start || in[run - 1] == ' ' || in[run - 1] == ',' || in[run - 1] == '\t';
    }

    private static boolean isKeyByte(byte b) {
        return LineScan.isLetter(b) || LineScan.isDigit(b) || b == '.' || b == '$' || b == '-';
    }

    /** The closing quote, or where to go on when there is none. */
    private static int quoted(byte[] in, int open, int end) {
        for (int i = open + 1; i < end; i++) {
            if (in[i] == '\\') {
                i++;
            } else if (in[i] == '"') {
                return i;
            }
        }
        return open;
    }

    private void put(byte[] source, int keyStart, int keyEnd, int valueStart, int valueEnd) {
        keys[count] = source;
        keyFrom[count] = keyStart;
        keyTo[count] = keyEnd;
        from[count] = valueStart;
        to[count++] = valueEnd;
    }

    private void close(int open, int next) {
        if (open < 0) {
            return;
        }
        int end = LineScan.trimEnd(line, from[open], next);
        if (end - from[open] >= 3 && LineScan.startsWith(line, end - 3, end, ARROW)) {
            end = LineScan.trimEnd(line, from[open], end - 3);
        }
        if (end > from[open] && line[end - 1] == ',' && next < line.length) {
            end--;
        }
        if (end - from[open] > 5 && LineScan.startsWith(line, end - 5, end, UNIT)) {
            end -= 5;
        }
        to[open] = end;
    }

    /** Adds a pair whose key is not in the line. */
    void add(byte[] key, int valueStart, int valueEnd) {
        if (count < MOST) {
            put(key, 0, key.length, valueStart, valueEnd);
        }
    }

    private static final byte[][] SWITCH = {
        bytes("prev_comm"),
        bytes("prev_pid"),
        bytes("prev_prio"),
        bytes("prev_state"),
        bytes("next_comm"),
        bytes("next_pid"),
        bytes("next_prio")
    };
    private static final byte[][] WAKEUP = {
        bytes("comm"), bytes("pid"), bytes("prio"), bytes("target_cpu")
    };
    private static final byte[] CPU = bytes("CPU:");

    /**
     * {@code comm:pid [prio] state ==> comm:pid [prio]}, as libtraceevent's plugin writes a switch.
     */
    boolean pluginSwitch(byte[] in, int start, int end) {
        clear(in);
        int arrow = LineScan.find(in, start, end, ARROW);
        if (arrow < 0) {
            return false;
        }
        int close = thread(SWITCH, 0, start, arrow);
        if (close < 0) {
            return false;
        }
        scan.over(in, close, arrow).blanks();
        int state = scan.at;
        scan.word();
        add(SWITCH[3], state, scan.at);
        scan.over(in, arrow + 3, end).blanks();
        return thread(SWITCH, 4, scan.at, end) >= 0;
    }

    /** {@code comm:pid [prio] success=1 CPU:000}, as libtraceevent's plugin writes a wake-up. */
    boolean pluginWakeup(byte[] in, int start, int end) {
        clear(in);
        int close = thread(WAKEUP, 0, start, end);
        if (close < 0) {
            return false;
        }
        int cpu = LineScan.find(in, close, end, CPU);
        if (cpu >= 0) {
            add(WAKEUP[3], cpu + CPU.length, end);
        }
        return true;
    }

    /** {@code comm:pid [prio]}; where it ends, -1 when it is something else. */
    private int thread(byte[][] names, int first, int start, int end) {
        int bracket = -1;
        for (int i = start; i < end && bracket < 0; i++) {
            if (line[i] == '[' && i > start && line[i - 1] == ' ') {
                bracket = i;
            }
        }
        int pidEnd = bracket < 0 ? start : LineScan.trimEnd(line, start, bracket);
        int colon = pidEnd - 1;
        while (colon >= start && LineScan.isDigit(line[colon])) {
            colon--;
        }
        if (colon < start || line[colon] != ':' || colon == pidEnd - 1) {
            return -1;
        }
        scan.over(line, bracket + 1, end);
        if (!scan.signed() || scan.peek() != ']') {
            return -1;
        }
        add(names[first], start, colon);
        add(names[first + 1], colon + 1, pidEnd);
        add(names[first + 2], bracket + 1, scan.at);
        return scan.at + 1;
    }

    private static final byte[] ID = bytes("id");
    private static final byte[] RET = bytes("ret");
    private static final byte[] NR = bytes("NR ");

    /** Where the arguments of {@link #rawSyscall} begin, -1 for a return. */
    int arguments;

    /** {@code NR id (hex, hex, …)} or {@code NR id = result}: raw_syscalls. */
    boolean rawSyscall(byte[] in, int start, int end) {
        clear(in);
        arguments = -1;
        scan.over(in, start, end);
        if (!scan.take(NR)) {
            return false;
        }
        int number = scan.at;
        if (!scan.signed()) {
            return false;
        }
        add(ID, number, scan.at);
        scan.blanks();
        if (scan.take('=')) {
            scan.blanks();
            add(RET, scan.at, LineScan.trimEnd(in, scan.at, end));
            return true;
        }
        if (!scan.take('(')) {
            return false;
        }
        arguments = scan.at;
        return true;
    }
}
