package sonde.tools.explain;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;

/**
 * Finds the end of lines, and whether one of many literals is in them, in one pass: Aho and
 * Corasick's automaton with all transitions written out. Time is linear in the input.
 */
final class LiteralAutomaton {
    static final int START = 0;

    private final byte[] classes = new byte[256];
    private final int[] next;
    private final int width;
    private final int firstMarked;

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
        boolean[] ends = new boolean[most];
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
            ends[state] = true;
        }
        complete(trie, ends, states);
        // States that end a literal come last, so that one comparison finds both them and ends.
        int[] order = new int[states];
        int plain = 0;
        for (int i = 0; i < states; i++) {
            order[i] = ends[i] ? 0 : plain++;
        }
        firstMarked = plain * width;
        for (int i = 0; i < states; i++) {
            order[i] = ends[i] ? plain++ : order[i];
        }
        next = new int[states * width];
        for (int state = 0; state < states; state++) {
            for (int c = 0; c < width; c++) {
                next[order[state] * width + c] = order[trie[state * width + c]] * width;
            }
            next[order[state] * width + 1] = START;
        }
    }

    private void complete(int[] trie, boolean[] ends, int states) {
        int[] fall = new int[states];
        Deque<Integer> queue = new ArrayDeque<>();
        for (int c = 0; c < width; c++) {
            if (trie[c] != 0) {
                queue.add(trie[c]);
            }
        }
        while (!queue.isEmpty()) {
            int state = queue.remove();
            ends[state] |= ends[fall[state]];
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

    /**
     * Goes on to the end of the line or of the bytes.
     *
     * @param state {@link #START} at the begin of a line, or the last state; its sign is kept
     * @return where the line's {@code \n} is, or {@code to}; the state is in {@link #state}
     */
    int scan(byte[] bytes, int from, int to, int state) {
        int[] table = next;
        byte[] kinds = classes;
        int at = state;
        boolean found = marked;
        int limit = firstMarked;
        for (int i = from; i < to; i++) {
            byte one = bytes[i];
            if (one == '\n') {
                marked = found;
                this.state = START;
                return i;
            }
            at = table[at + kinds[one & 0xff]];
            if (at >= limit) {
                found = true;
            }
        }
        marked = found;
        this.state = at;
        return to;
    }

    /** Where the automaton stands. */
    int state;

    /** Whether a literal was in the line so far; the caller clears it. */
    boolean marked;
}
