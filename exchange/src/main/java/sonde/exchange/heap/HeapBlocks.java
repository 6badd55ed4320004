package sonde.exchange.heap;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import sonde.event.heap.HeapSize;
import sonde.event.heap.HeapSums;

/**
 * Counts what becomes of blocks, in one pass. Blocks of one size and stack are one kind; nothing is
 * kept for a block. The peak by stack needs no second pass: a kind keeps how many of its blocks
 * lived at the last peak when it changes for the first time after it.
 */
final class HeapBlocks {
    private static final int LIVE = 0;
    private static final int AT_PEAK = 1;
    private static final int PEAK_NUMBER = 2;
    private static final int CALLS = 3;
    private static final int TEMPORARY = 4;
    private static final int SITE = 5;
    private static final int SIZE_LOW = 6;
    private static final int SIZE_HIGH = 7;

    /** 32 bytes: half a line of a processor's cache, which is what an event costs. */
    private static final int FIELDS = 8;

    /** 512 MB, half as much again while the array grows. */
    private static final int MOST_KINDS = 1 << 24;

    private static final long MOST_BYTES = 1L << 47;
    private static final int STEP = 1 << 30;

    private int[] fields = new int[FIELDS << 10];
    // What exceeds the integer of a field, by kind: calls, then temporary ones.
    private final Map<Integer, long[]> more = new HashMap<>();
    private int count;
    private int last = -1;
    private int peakNumber;
    private long live;
    private long peak;
    private long peakTime;
    private long most;

    /** A new kind; false when it cannot be one, or when there are too many. */
    boolean add(long size, int site) {
        if (size < 0 || size > MOST_BYTES || count == MOST_KINDS) {
            return false;
        }
        int at = FIELDS * count;
        if (at == fields.length) {
            fields = Arrays.copyOf(fields, Math.min(MOST_KINDS, count + (count >> 1)) * FIELDS);
        }
        fields[at + PEAK_NUMBER] = -1;
        fields[at + SITE] = site;
        fields[at + SIZE_LOW] = (int) size;
        fields[at + SIZE_HIGH] = (int) (size >> 32);
        count++;
        return true;
    }

    int kinds() {
        return count;
    }

    private long size(int at) {
        return (long) fields[at + SIZE_HIGH] << 32 | fields[at + SIZE_LOW] & 0xffff_ffffL;
    }

    /**
     * Counts a new block or the end of one, without branches on which it is.
     *
     * @param delta 1 or -1
     * @return false when there is no such kind, or no block of it in use
     */
    boolean change(int kind, int delta, long time) {
        if (kind < 0 || kind >= count) {
            return false;
        }
        int at = FIELDS * kind;
        int blocks = fields[at + LIVE];
        if (blocks + delta < 0 || fields[at + CALLS] == STEP && !carry(kind, at)) {
            return false;
        }
        if (fields[at + PEAK_NUMBER] != peakNumber) {
            fields[at + PEAK_NUMBER] = peakNumber;
            fields[at + AT_PEAK] = blocks;
        }
        int ends = 1 - delta >> 1;
        fields[at + LIVE] = blocks + delta;
        fields[at + CALLS] += 1 - ends;
        fields[at + TEMPORARY] += kind == last ? ends : 0;
        last = kind | -ends;
        live += size(at) * delta;
        if (live > peak) {
            peak = live;
            peakTime = time;
            nextPeak();
        }
        most = Math.max(most, live);
        return true;
    }

    private void nextPeak() {
        peakNumber++;
        if (peakNumber == Integer.MAX_VALUE) {
            // No kind has changed since this peak.
            peakNumber = 0;
            for (int kind = 0; kind < count; kind++) {
                fields[FIELDS * kind + PEAK_NUMBER] = -1;
            }
        }
    }

    /** False when so many blocks of one kind live, or so many bytes, that a sum would overflow. */
    private boolean carry(int kind, int at) {
        long[] sums = more.computeIfAbsent(kind, made -> new long[2]);
        sums[0] += fields[at + CALLS];
        sums[1] += fields[at + TEMPORARY];
        fields[at + CALLS] = 0;
        fields[at + TEMPORARY] = 0;
        return fields[at + LIVE] < STEP;
    }

    private long calls(int kind) {
        return fields[FIELDS * kind + CALLS] + (more.containsKey(kind) ? more.get(kind)[0] : 0);
    }

    private long temporary(int kind) {
        return fields[FIELDS * kind + TEMPORARY] + (more.containsKey(kind) ? more.get(kind)[1] : 0);
    }

    /** The most bytes that were in use since this was asked before. */
    long most() {
        long since = most;
        most = live;
        return since;
    }

    /** What all stacks allocated. */
    HeapSums totals() {
        return bySite(1).values().stream().reduce(HeapSums.NONE, HeapSums::plus);
    }

    /** When the heap was largest. */
    long peakTime() {
        return peakTime;
    }

    /** By stack what it allocated; stacks from {@code most} on are put under 0. */
    Map<Integer, HeapSums> bySite(int most) {
        Map<Integer, HeapSums> sums = new HashMap<>();
        for (int kind = 0; kind < count; kind++) {
            int at = FIELDS * kind;
            long size = size(at);
            long calls = calls(kind);
            boolean changed = fields[at + PEAK_NUMBER] == peakNumber;
            long peakBlocks = fields[at + (changed ? AT_PEAK : LIVE)];
            if (calls > 0) {
                HeapSums one =
                        new HeapSums(
                                calls,
                                HeapSums.times(calls, size),
                                fields[at + LIVE],
                                HeapSums.times(fields[at + LIVE], size),
                                peakBlocks,
                                HeapSums.times(peakBlocks, size),
                                temporary(kind),
                                HeapSums.UNKNOWN);
                int site = fields[at + SITE];
                sums.merge(site >= 0 && site < most ? site : 0, one, HeapSums::plus);
            }
        }
        return sums;
    }

    List<HeapSize> sizes() {
        TreeMap<Long, long[]> bySize = new TreeMap<>();
        for (int kind = 0; kind < count; kind++) {
            if (calls(kind) > 0) {
                int at = FIELDS * kind;
                long[] sum = bySize.computeIfAbsent(size(at), made -> new long[2]);
                sum[0] += calls(kind);
                sum[1] += fields[at + LIVE];
            }
        }
        List<HeapSize> sizes = new ArrayList<>();
        bySize.forEach((size, sum) -> sizes.add(new HeapSize(size, size, sum[0], sum[1])));
        return sizes;
    }
}
