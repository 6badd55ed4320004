package sonde.binary.dwarf.code;

import java.util.Arrays;

/** Pairs of first address and address behind the last. */
final class CodeRanges {
    private static final int MOST = 1 << 20;

    private long[] pairs = new long[16];
    private int count;

    void clear() {
        count = 0;
    }

    int count() {
        return count;
    }

    long start(int index) {
        return pairs[2 * index];
    }

    long end(int index) {
        return pairs[2 * index + 1];
    }

    /** Adds a range unless it is empty or there are more than there can be. */
    void add(long start, long end) {
        if (Long.compareUnsigned(start, end) >= 0 || count == MOST) {
            return;
        }
        if (2 * count == pairs.length) {
            pairs = Arrays.copyOf(pairs, 4 * count);
        }
        pairs[2 * count] = start;
        pairs[2 * count + 1] = end;
        count++;
    }
}
