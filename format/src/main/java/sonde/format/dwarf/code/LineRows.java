package sonde.format.dwarf.code;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/** Rows of a line program, from an address on: file, line, column. */
final class LineRows {
    long[] addresses = new long[256];
    int[] files = new int[256];
    int[] lines = new int[256];
    int[] columns = new int[256];
    int count;

    void add(long address, int file, int line, int column) {
        if (count == addresses.length) {
            addresses = Arrays.copyOf(addresses, 2 * count);
            files = Arrays.copyOf(files, 2 * count);
            lines = Arrays.copyOf(lines, 2 * count);
            columns = Arrays.copyOf(columns, 2 * count);
        }
        addresses[count] = address;
        files[count] = file;
        lines[count] = line;
        columns[count++] = column;
    }

    /**
     * As {@link #add}, where a later row of one address takes the place of the earlier and a row
     * that says nothing new is left out.
     */
    void merge(long address, int file, int line, int column) {
        if (count > 0 && addresses[count - 1] == address) {
            count--;
        }
        boolean same =
                count > 0
                        && files[count - 1] == file
                        && lines[count - 1] == line
                        && columns[count - 1] == column;
        if (!same) {
            add(address, file, line, column);
        }
    }

    /** Index of the last row at or below an address, -1 for none. */
    int floor(long address) {
        int low = 0;
        int high = count - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            if (Long.compareUnsigned(addresses[middle], address) <= 0) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return high;
    }

    /** Puts rows in the order of their addresses; most programs have them so (DWARF 5, 6.2.5). */
    void sort() {
        boolean sorted = true;
        for (int i = 1; i < count && sorted; i++) {
            sorted = Long.compareUnsigned(addresses[i - 1], addresses[i]) <= 0;
        }
        if (sorted) {
            return;
        }
        long[] keys = addresses;
        Integer[] order = IntStream.range(0, count).boxed().toArray(Integer[]::new);
        Arrays.sort(order, Comparator.comparingLong(i -> keys[i] ^ Long.MIN_VALUE));
        LineRows copy = new LineRows();
        for (int i : order) {
            copy.add(addresses[i], files[i], lines[i], columns[i]);
        }
        addresses = copy.addresses;
        files = copy.files;
        lines = copy.lines;
        columns = copy.columns;
    }
}
