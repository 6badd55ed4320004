package sonde.recording.text;

import java.util.Arrays;

/**
 * The rows of a text by time where the text itself is not: of equal times the earlier row first. A
 * place is an item's offset times {@link #ROWS}, plus the row in the item.
 */
final class RowSorter {
    /** Most rows of an item. */
    static final int ROWS = 8;

    /** A text with more rows is taken as it lies; 16 bytes a row are kept, 32 while sorting. */
    static final int MOST = 1 << 24;

    private long[] times = new long[1024];
    private long[] places = new long[1024];
    private int size;

    /** Adds a row; false when there are too many. */
    boolean add(long time, long offset, int row) {
        if (size == MOST) {
            return false;
        }
        if (size == times.length) {
            times = Arrays.copyOf(times, 2 * size);
            places = Arrays.copyOf(places, 2 * size);
        }
        times[size] = time;
        places[size++] = offset * ROWS + row;
        return true;
    }

    int size() {
        return size;
    }

    long time(int index) {
        return times[index];
    }

    long offset(int index) {
        return places[index] / ROWS;
    }

    int row(int index) {
        return (int) (places[index] % ROWS);
    }

    /** Merges ascending runs, two and two, until there is one: a text is nearly sorted. */
    void sort() {
        long[] toTimes = new long[size];
        long[] toPlaces = new long[size];
        boolean sorted = false;
        while (!sorted) {
            sorted = true;
            int at = 0;
            while (at < size) {
                int middle = runEnd(at);
                int end = middle < size ? runEnd(middle) : size;
                merge(at, middle, end, toTimes, toPlaces);
                sorted &= at == 0 && end == size;
                at = end;
            }
            long[] times2 = times;
            long[] places2 = places;
            times = toTimes;
            places = toPlaces;
            toTimes = times2;
            toPlaces = places2;
        }
    }

    private int runEnd(int from) {
        int end = from + 1;
        while (end < size && times[end] >= times[end - 1]) {
            end++;
        }
        return end;
    }

    private void merge(int from, int middle, int end, long[] toTimes, long[] toPlaces) {
        int left = from;
        int right = middle;
        for (int at = from; at < end; at++) {
            boolean first = right >= end || left < middle && times[left] <= times[right];
            int taken = first ? left++ : right++;
            toTimes[at] = times[taken];
            toPlaces[at] = places[taken];
        }
    }
}
