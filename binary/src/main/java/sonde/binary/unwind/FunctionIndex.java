package sonde.binary.unwind;

import java.util.Arrays;

/** Functions of a file by their start: 16 bytes each. */
final class FunctionIndex {
    /** Nested or doubled ranges: so many before the nearest are looked at. */
    private static final int LOOK_BACK = 8;

    private final long base;
    private final int[] starts;
    private final int[] sizes;
    private final int[] places;

    private FunctionIndex(long base, int[] starts, int[] sizes, int[] places) {
        this.base = base;
        this.starts = starts;
        this.sizes = sizes;
        this.places = places;
    }

    int count() {
        return starts.length;
    }

    /** Index of the function that holds an address; -1 for none. */
    int find(long address) {
        long delta = address - base;
        if (delta < 0 || delta > 0xffff_ffffL) {
            return -1;
        }
        int low = 0;
        int high = starts.length - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            if (Integer.toUnsignedLong(starts[middle]) <= delta) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        for (int at = high; at >= 0 && at > high - LOOK_BACK; at--) {
            if (delta - Integer.toUnsignedLong(starts[at]) < Integer.toUnsignedLong(sizes[at])) {
                return at;
            }
        }
        return -1;
    }

    long start(int function) {
        return base + Integer.toUnsignedLong(starts[function]);
    }

    long sizeBytes(int function) {
        return Integer.toUnsignedLong(sizes[function]);
    }

    /** What {@link Builder#add} was told: an offset below 4 GiB. */
    long place(int function) {
        return Integer.toUnsignedLong(places[function]);
    }

    /** Takes functions in any order. */
    static final class Builder {
        private long[] starts = new long[1024];
        private int[] sizes = new int[1024];
        private int[] places = new int[1024];
        private int count;

        /** Functions of no or more than 4 GiB, and those beyond it, are left out. */
        void add(long start, long sizeBytes, long place) {
            if (sizeBytes <= 0 || sizeBytes > 0xffff_ffffL) {
                return;
            }
            if (count == starts.length) {
                starts = Arrays.copyOf(starts, 2 * count);
                sizes = Arrays.copyOf(sizes, 2 * count);
                places = Arrays.copyOf(places, 2 * count);
            }
            starts[count] = start;
            sizes[count] = (int) sizeBytes;
            places[count++] = (int) place;
        }

        int count() {
            return count;
        }

        FunctionIndex build() {
            long lowest = base();
            long[] order = new long[count];
            int kept = 0;
            for (int i = 0; i < count; i++) {
                long delta = starts[i] - lowest;
                if (delta >= 0 && delta <= 0xffff_ffffL) {
                    order[kept++] = delta << 31 | i;
                }
            }
            Arrays.sort(order, 0, kept);
            int[] sorted = new int[kept];
            int[] lengths = new int[kept];
            int[] at = new int[kept];
            for (int i = 0; i < kept; i++) {
                int from = (int) (order[i] & 0x7fff_ffff);
                sorted[i] = (int) (order[i] >>> 31);
                lengths[i] = sizes[from];
                at[i] = places[from];
            }
            return new FunctionIndex(lowest, sorted, lengths, at);
        }

        /**
         * The lowest start, as unsigned. Debug files have leftovers of discarded functions at 0;
         * those do not matter as long as the rest lies within 4 GiB, else the middle one decides.
         */
        private long base() {
            if (count == 0) {
                return 0;
            }
            long lowest = starts[0];
            for (int i = 1; i < count; i++) {
                lowest = Long.compareUnsigned(starts[i], lowest) < 0 ? starts[i] : lowest;
            }
            long middle = starts[count / 2];
            if (Long.compareUnsigned(middle - lowest, 0xffff_ffffL) <= 0) {
                return lowest;
            }
            return middle & ~0x7fff_ffffL;
        }
    }
}
