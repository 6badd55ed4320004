package sonde.recording;

import java.util.Arrays;

/** A growing list of integers. */
public final class LongList {
    private long[] values;
    private int size;

    /** An empty list. */
    public LongList() {
        values = new long[16];
    }

    /** Appends. */
    public void add(long value) {
        if (size == values.length) {
            values = Arrays.copyOf(values, 2 * size);
        }
        values[size++] = value;
    }

    /** How many there are. */
    public int size() {
        return size;
    }

    /** The value at an index. */
    public long at(int index) {
        if (index >= size) {
            throw new IndexOutOfBoundsException(index + " of " + size);
        }
        return values[index];
    }

    /** The value at an index, or another one where the list is shorter. */
    public long at(int index, long otherwise) {
        return index >= 0 && index < size ? values[index] : otherwise;
    }

    /** Removes and gives back the last one. */
    public long removeLast() {
        return values[--size];
    }

    /** Drops all. */
    public void clear() {
        size = 0;
    }

    /** A copy. */
    public long[] toArray() {
        return Arrays.copyOf(values, size);
    }
}
