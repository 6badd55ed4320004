package sonde.binary.dwarf.code;

import java.util.Arrays;
import sonde.binary.AddressOrder;

/** Ranges of addresses with the unit of each; they may overlap. */
final class RangeIndex {
    private static final int MOST = 1 << 24;

    private long[] starts = new long[256];
    private long[] ends = new long[256];
    private int[] units = new int[256];
    private int count;

    /** The furthest end of a range and all before it. */
    private long[] reach = {};

    void add(long start, long end, int unit) {
        if (Long.compareUnsigned(start, end) >= 0 || count == MOST) {
            return;
        }
        if (count == starts.length) {
            starts = Arrays.copyOf(starts, 2 * count);
            ends = Arrays.copyOf(ends, 2 * count);
            units = Arrays.copyOf(units, 2 * count);
        }
        starts[count] = start;
        ends[count] = end;
        units[count++] = unit;
    }

    /** Has to be called between adding and asking. */
    void build() {
        int[] order = AddressOrder.of(starts, count);
        long[] sortedStarts = new long[count];
        long[] sortedEnds = new long[count];
        int[] sortedUnits = new int[count];
        for (int i = 0; i < count; i++) {
            sortedStarts[i] = starts[order[i]];
            sortedEnds[i] = ends[order[i]];
            sortedUnits[i] = units[order[i]];
        }
        starts = sortedStarts;
        ends = sortedEnds;
        units = sortedUnits;
        reach = new long[count];
        long furthest = 0;
        for (int i = 0; i < count; i++) {
            furthest = Long.compareUnsigned(ends[i], furthest) > 0 ? ends[i] : furthest;
            reach[i] = furthest;
        }
    }

    /** The unit of the range that begins last of those that hold an address; -1 for none. */
    int find(long address) {
        int last = AddressOrder.floor(starts, count, address);
        for (int i = last; i >= 0 && Long.compareUnsigned(reach[i], address) > 0; i--) {
            if (Long.compareUnsigned(ends[i], address) > 0) {
                return units[i];
            }
        }
        return -1;
    }
}
