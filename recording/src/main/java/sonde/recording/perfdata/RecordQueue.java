package sonde.recording.perfdata;

import java.util.Arrays;

/**
 * Places of records until their time has come. perf writes one ring after the other, so records lie
 * in runs that are sorted in themselves; a PERF_RECORD_FINISHED_ROUND says that whatever is not
 * newer than the newest record before the previous such mark can go (perf's ordered-events).
 * Columns of primitives, merged run by run.
 */
final class RecordQueue {
    private long[] time = new long[1 << 12];
    private long[] position = new long[1 << 12];
    private int[] kind = new int[1 << 12];
    private long[] otherTime = new long[0];
    private long[] otherPosition = new long[0];
    private int[] otherKind = new int[0];
    private int size;
    private int ready;
    private int taken;
    private long newest = Long.MIN_VALUE;
    private long newestOfRound = Long.MIN_VALUE;
    private long released = Long.MIN_VALUE;
    private long late;

    /** Adds a record; only when nothing is {@link #hasReady() ready}. */
    void add(long timeValue, long positionValue, int kindValue) {
        if (size == time.length) {
            int room = size * 2;
            time = Arrays.copyOf(time, room);
            position = Arrays.copyOf(position, room);
            kind = Arrays.copyOf(kind, room);
        }
        time[size] = timeValue;
        position[size] = positionValue;
        kind[size] = kindValue;
        size++;
        if (timeValue > newest) {
            newest = timeValue;
        }
        if (timeValue < released) {
            late++;
        }
    }

    /** A time before which nothing that is still held can lie; 0 as long as nothing went. */
    long floor() {
        return Math.max(released, 0);
    }

    /** A round has ended: releases what no later record can precede. */
    void finishRound() {
        long limit = newestOfRound;
        newestOfRound = newest;
        release(limit);
    }

    /** Releases everything. */
    void finish() {
        release(Long.MAX_VALUE);
    }

    private void release(long limit) {
        sort();
        int low = 0;
        int high = size;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (time[middle] <= limit) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        ready = low;
        if (ready > 0) {
            released = Math.max(released, time[ready - 1]);
        }
    }

    /** Records held, ready or not. */
    int size() {
        return size;
    }

    /** Records that came with a time before one already released. */
    long late() {
        return late;
    }

    boolean hasReady() {
        return taken < ready;
    }

    long time() {
        return time[taken];
    }

    long position() {
        return position[taken];
    }

    int kind() {
        return kind[taken];
    }

    /** Goes to the next ready record; behind the last one, what is held moves up. */
    void take() {
        taken++;
        if (taken == ready) {
            System.arraycopy(time, ready, time, 0, size - ready);
            System.arraycopy(position, ready, position, 0, size - ready);
            System.arraycopy(kind, ready, kind, 0, size - ready);
            size -= ready;
            ready = 0;
            taken = 0;
        }
    }

    /** Lowest position that is marked as one in the window, as {@link #inWindow}; -1 for none. */
    long lowestInWindow() {
        long lowest = -1;
        for (int i = taken; i < size; i++) {
            if (position[i] < 0 && (lowest < 0 || ~position[i] < lowest)) {
                lowest = ~position[i];
            }
        }
        return lowest;
    }

    /** The window's bytes moved down by that many. */
    void moveWindow(long down) {
        for (int i = taken; i < size; i++) {
            if (position[i] < 0) {
                position[i] = inWindow(~position[i] - down);
            }
        }
    }

    /** Marks a position as one in the window of decompressed records. */
    static long inWindow(long position) {
        return ~position;
    }

    /** Merges the runs that are there already, pairwise; equal times keep their order. */
    private void sort() {
        int[] starts = runs();
        int count = starts.length - 1;
        if (count <= 1) {
            return;
        }
        if (otherTime.length < size) {
            otherTime = new long[time.length];
            otherPosition = new long[time.length];
            otherKind = new int[time.length];
        }
        while (count > 1) {
            int made = 0;
            for (int run = 0; run < count; run += 2) {
                int from = starts[run];
                int middle = starts[Math.min(run + 1, count)];
                int to = starts[Math.min(run + 2, count)];
                merge(from, middle, to);
                starts[made++] = from;
            }
            starts[made] = size;
            count = made;
            swap();
        }
    }

    private int[] runs() {
        int[] starts = new int[16];
        int count = 0;
        for (int i = 0; i < size; i++) {
            if (i == 0 || time[i] < time[i - 1]) {
                if (count + 1 == starts.length) {
                    starts = Arrays.copyOf(starts, starts.length * 2);
                }
                starts[count++] = i;
            }
        }
        starts[count] = size;
        return Arrays.copyOf(starts, count + 1);
    }

    private void merge(int from, int middle, int to) {
        int left = from;
        int right = middle;
        for (int out = from; out < to; out++) {
            boolean fromLeft = right == to || (left < middle && time[left] <= time[right]);
            int source = fromLeft ? left++ : right++;
            otherTime[out] = time[source];
            otherPosition[out] = position[source];
            otherKind[out] = kind[source];
        }
    }

    private void swap() {
        long[] times = time;
        time = otherTime;
        otherTime = times;
        long[] positions = position;
        position = otherPosition;
        otherPosition = positions;
        int[] kinds = kind;
        kind = otherKind;
        otherKind = kinds;
    }
}
