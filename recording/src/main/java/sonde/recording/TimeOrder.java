package sonde.recording;

import java.util.function.IntToLongFunction;

/** Sorts numbers of rows by time: stable, and quick on what is nearly sorted. */
public final class TimeOrder {
    private final IntToLongFunction time;

    private TimeOrder(IntToLongFunction time) {
        this.time = time;
    }

    /** Sorts in place. */
    public static void sort(int[] rows, IntToLongFunction time) {
        TimeOrder order = new TimeOrder(time);
        int[] from = rows;
        int[] to = new int[rows.length];
        boolean elsewhere = false;
        for (long width = 1; width < rows.length; width *= 2) {
            for (long low = 0; low < rows.length; low += 2 * width) {
                int middle = (int) Math.min(low + width, rows.length);
                int high = (int) Math.min(low + 2 * width, rows.length);
                order.merge(from, to, new int[] {(int) low, middle, high});
            }
            int[] swap = from;
            from = to;
            to = swap;
            elsewhere = !elsewhere;
        }
        if (elsewhere) {
            System.arraycopy(from, 0, rows, 0, rows.length);
        }
    }

    /** Merges two sorted parts that lie one behind the other. */
    private void merge(int[] from, int[] to, int[] bounds) {
        int left = bounds[0];
        int middle = bounds[1];
        int right = middle;
        int high = bounds[2];
        if (right >= high || at(from[middle - 1]) <= at(from[right])) {
            System.arraycopy(from, left, to, left, high - left);
            return;
        }
        for (int i = left; i < high; i++) {
            boolean takeLeft =
                    left < middle && (right >= high || at(from[left]) <= at(from[right]));
            to[i] = takeLeft ? from[left++] : from[right++];
        }
    }

    private long at(int row) {
        return time.applyAsLong(row);
    }

    /** Numbers 0 to {@code count - 1} in the order of their times. */
    public static int[] of(LongList times) {
        int[] order = new int[times.size()];
        boolean sorted = true;
        for (int i = 0; i < order.length; i++) {
            order[i] = i;
            sorted &= i == 0 || times.at(i) >= times.at(i - 1);
        }
        if (!sorted) {
            sort(order, times::at);
        }
        return order;
    }
}
