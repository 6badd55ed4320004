package sonde.binary;

/** Orders addresses as unsigned numbers without an object for each. */
public final class AddressOrder {
    /** Up to so many, moving one after the other to its place is faster than counting. */
    private static final int FEW = 64;

    private AddressOrder() {}

    /**
     * The indexes 0..count-1 in ascending order of their addresses; equal ones keep their order.
     * Counting by 11 bits at a time: passes over bits in which all addresses agree are skipped.
     */
    public static int[] of(long[] addresses, int count) {
        int[] order = new int[count];
        long differing = 0;
        boolean sorted = true;
        for (int i = 0; i < count; i++) {
            order[i] = i;
            differing |= addresses[i] ^ addresses[0];
            sorted &= i == 0 || Long.compareUnsigned(addresses[i - 1], addresses[i]) <= 0;
        }
        if (sorted) {
            return order;
        }
        if (count <= FEW) {
            insert(addresses, order);
            return order;
        }
        int[] spare = new int[count];
        for (int shift = 0; shift < 64; shift += 11) {
            if ((differing >>> shift & 0x7ff) != 0) {
                pass(addresses, order, spare, shift);
                int[] swap = order;
                order = spare;
                spare = swap;
            }
        }
        return order;
    }

    private static void insert(long[] addresses, int[] order) {
        for (int i = 1; i < order.length; i++) {
            int at = i;
            long address = addresses[i];
            while (at > 0 && Long.compareUnsigned(addresses[order[at - 1]], address) > 0) {
                order[at] = order[at - 1];
                at--;
            }
            order[at] = i;
        }
    }

    private static void pass(long[] addresses, int[] from, int[] to, int shift) {
        int[] next = new int[0x801];
        for (int index : from) {
            next[(int) (addresses[index] >>> shift & 0x7ff) + 1]++;
        }
        for (int i = 1; i < next.length; i++) {
            next[i] += next[i - 1];
        }
        for (int index : from) {
            to[next[(int) (addresses[index] >>> shift & 0x7ff)]++] = index;
        }
    }

    /** Index of the last of the ascending addresses that is not above; -1 when all are. */
    public static int floor(long[] addresses, int count, long address) {
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
}
