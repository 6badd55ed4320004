package sonde.tools.explain;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Finds the end of lines, and whether one of many literals is in them, in one pass: Aho and
 * Corasick's automaton with all transitions written out. Time is linear in the input. Each step
 * waits for the load of the step before, so {@link #CHAINS} parts of the input take turns.
 */
final class LiteralAutomaton {
    private static final int START = 0;

    private static final int CHAINS = 4;

    private final byte[] classes = new byte[256];
    private final int[] next;
    private final int width;
    private final int firstMarked;

    /** The literals that end in each state from {@link #firstMarked} on. */
    private final List<Set<String>> ended = new ArrayList<>();

    private final int newline;
    private final int[] filled = new int[CHAINS];
    private final int[] marks = new int[CHAINS];
    private int[] ends = {};

    LiteralAutomaton(Collection<String> literals) {
        int count = 2; // class 0: a byte of no literal; class 1: the end of a line
        classes['\n'] = 1;
        int most = 1;
        for (String literal : literals) {
            most += literal.length();
            for (byte one : literal.getBytes(StandardCharsets.US_ASCII)) {
                if (classes[one] == 0) {
                    classes[one] = (byte) count++;
                }
            }
        }
        width = count;
        int[] trie = new int[most * width];
        List<Set<String>> ends = new ArrayList<>();
        for (int i = 0; i < most; i++) {
            ends.add(new TreeSet<>());
        }
        int states = 1;
        for (String literal : literals) {
            int state = 0;
            for (byte one : literal.getBytes(StandardCharsets.US_ASCII)) {
                int at = state * width + classes[one];
                if (trie[at] == 0) {
                    trie[at] = states++;
                }
                state = trie[at];
            }
            ends.get(state).add(literal);
        }
        complete(trie, ends, states);
        // States that end a literal come last, behind them the one at the end of a line, so that
        // one
        // comparison finds both.
        int[] order = new int[states];
        int plain = 0;
        for (int i = 0; i < states; i++) {
            order[i] = ends.get(i).isEmpty() ? plain++ : 0;
        }
        firstMarked = plain * width;
        for (int i = 0; i < states; i++) {
            if (!ends.get(i).isEmpty()) {
                order[i] = plain++;
                ended.add(ends.get(i));
            }
        }
        newline = states * width;
        next = new int[newline + width];
        for (int state = 0; state < states; state++) {
            for (int c = 0; c < width; c++) {
                next[order[state] * width + c] = order[trie[state * width + c]] * width;
            }
            next[order[state] * width + 1] = newline;
        }
        System.arraycopy(next, START, next, newline, width);
    }

    private void complete(int[] trie, List<Set<String>> ends, int states) {
        int[] fall = new int[states];
        Deque<Integer> queue = new ArrayDeque<>();
        for (int c = 0; c < width; c++) {
            if (trie[c] != 0) {
                queue.add(trie[c]);
            }
        }
        while (!queue.isEmpty()) {
            int state = queue.remove();
            ends.get(state).addAll(ends.get(fall[state]));
            for (int c = 0; c < width; c++) {
                int at = state * width + c;
                int shorter = trie[fall[state] * width + c];
                if (trie[at] == 0) {
                    trie[at] = shorter;
                } else {
                    fall[trie[at]] = shorter;
                    queue.add(trie[at]);
                }
            }
        }
    }

    /** Takes a line: where it begins and ends, and whether a literal is in it. */
    interface MarkedLine {
        void line(int from, int to, boolean marked) throws IOException;
    }

    /** Finds the lines of bytes that end with the end of a line. */
    void scan(byte[] bytes, int from, int to, MarkedLine lines) throws IOException {
        ends = ends.length < to ? new int[Math.max(to, bytes.length)] : ends;
        int[] begins = new int[CHAINS + 1];
        begins[0] = from;
        for (int k = 1; k <= CHAINS; k++) {
            int at = Math.max(begins[k - 1], from + (int) ((long) (to - from) * k / CHAINS));
            while (at < to && at > from && bytes[at - 1] != '\n') {
                at++;
            }
            begins[k] = at;
            filled[k - 1] = begins[k - 1];
            marks[k - 1] = 0;
        }
        int least = to - from;
        for (int k = 0; k < CHAINS; k++) {
            least = Math.min(least, begins[k + 1] - begins[k]);
        }
        int[] states = together(bytes, begins, least);
        for (int k = 0; k < CHAINS; k++) {
            alone(bytes, begins[k] + least, begins[k + 1], states[k], k);
        }
        int begin = from;
        for (int k = 0; k < CHAINS; k++) {
            for (int i = begins[k]; i < filled[k]; i++) {
                int end = ends[i] >>> 1;
                lines.line(begin, end, (ends[i] & 1) != 0);
                begin = end + 1;
            }
        }
    }

    /** The states of all chains after so many bytes. */
    private int[] together(byte[] bytes, int[] begins, int count) {
        int[] table = next;
        byte[] kinds = classes;
        int limit = firstMarked;
        int p = begins[0];
        int q = begins[1];
        int r = begins[2];
        int s = begins[3];
        int a = START;
        int b = START;
        int c = START;
        int d = START;
        for (int i = 0; i < count; i++) {
            a = table[a + kinds[bytes[p + i] & 0xff]];
            b = table[b + kinds[bytes[q + i] & 0xff]];
            c = table[c + kinds[bytes[r + i] & 0xff]];
            d = table[d + kinds[bytes[s + i] & 0xff]];
            if (a >= limit) {
                hit(0, p + i, a);
            }
            if (b >= limit) {
                hit(1, q + i, b);
            }
            if (c >= limit) {
                hit(2, r + i, c);
            }
            if (d >= limit) {
                hit(3, s + i, d);
            }
        }
        return new int[] {a, b, c, d};
    }

    private void alone(byte[] bytes, int from, int to, int state, int chain) {
        int at = state;
        for (int i = from; i < to; i++) {
            at = next[at + classes[bytes[i] & 0xff]];
            if (at >= firstMarked) {
                hit(chain, i, at);
            }
        }
    }

    private void hit(int chain, int at, int state) {
        if (state == newline) {
            ends[filled[chain]++] = at << 1 | marks[chain];
            marks[chain] = 0;
        } else {
            marks[chain] = 1;
        }
    }

    /** The literals that are in a text. */
    Set<String> literals(String text) {
        Set<String> found = new HashSet<>();
        int at = START;
        for (int i = 0; i < text.length(); i++) {
            at = next[at + (text.charAt(i) < classes.length ? classes[text.charAt(i)] : 0)];
            if (at >= firstMarked && at != newline) {
                found.addAll(ended.get((at - firstMarked) / width));
            }
        }
        return found;
    }

    /** Whether a literal is in bytes without an end of a line. */
    boolean marks(byte[] bytes, int from, int to) {
        int at = START;
        boolean found = false;
        for (int i = from; i < to; i++) {
            at = next[at + classes[bytes[i] & 0xff]];
            found |= at >= firstMarked;
        }
        return found;
    }
}
