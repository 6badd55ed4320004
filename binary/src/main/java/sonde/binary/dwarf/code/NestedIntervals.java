package sonde.binary.dwarf.code;

import java.util.Arrays;
import sonde.binary.AddressOrder;

/** Ranges that lie in each other, made into a row of intervals with the innermost one's owner. */
final class NestedIntervals {
    /** Ranges in ranges that are looked at; deeper ones end where the outer ones do. */
    private static final int DEPTH = 1 << 12;

    private long[] rangeStarts = new long[64];
    private long[] rangeEnds = new long[64];
    private int[] owners = new int[64];
    private int ranges;

    private long[] starts = {};
    private int[] nodes = {};
    private int count;

    private long[] stackEnds = new long[64];
    private int[] stackNodes = new int[64];
    private int depth;

    /** Adds a range; one that lies in another is added after it. */
    void add(long start, long end, int node) {
        if (ranges == owners.length) {
            rangeStarts = Arrays.copyOf(rangeStarts, 2 * ranges);
            rangeEnds = Arrays.copyOf(rangeEnds, 2 * ranges);
            owners = Arrays.copyOf(owners, 2 * ranges);
        }
        rangeStarts[ranges] = start;
        rangeEnds[ranges] = end;
        owners[ranges++] = node;
    }

    /** Makes the intervals of what was added. */
    void build() {
        starts = new long[2 * ranges];
        nodes = new int[2 * ranges];
        count = 0;
        depth = 0;
        // Of one start in the order they were added: the outer one first.
        for (int range : AddressOrder.of(rangeStarts, ranges)) {
            closeUpTo(rangeStarts[range]);
            emit(rangeStarts[range], owners[range]);
            push(rangeEnds[range], owners[range]);
        }
        closeUpTo(-1);
        rangeStarts = new long[0];
        rangeEnds = new long[0];
        owners = new int[0];
        ranges = 0;
    }

    private void push(long end, int node) {
        if (depth == stackNodes.length) {
            if (depth >= DEPTH) {
                return;
            }
            stackEnds = Arrays.copyOf(stackEnds, 2 * depth);
            stackNodes = Arrays.copyOf(stackNodes, 2 * depth);
        }
        stackEnds[depth] = end;
        stackNodes[depth++] = node;
    }

    private void closeUpTo(long limit) {
        while (depth > 0 && Long.compareUnsigned(stackEnds[depth - 1], limit) <= 0) {
            long end = stackEnds[--depth];
            while (depth > 0 && Long.compareUnsigned(stackEnds[depth - 1], end) <= 0) {
                depth--;
            }
            emit(end, depth > 0 ? stackNodes[depth - 1] : UnitCode.NONE);
        }
    }

    private void emit(long start, int node) {
        if (count > 0 && starts[count - 1] == start) {
            nodes[count - 1] = node;
            return;
        }
        if (count > 0 && nodes[count - 1] == node) {
            return;
        }
        if (count == starts.length) {
            starts = Arrays.copyOf(starts, 2 * count + 2);
            nodes = Arrays.copyOf(nodes, 2 * count + 2);
        }
        starts[count] = start;
        nodes[count++] = node;
    }

    int count() {
        return count;
    }

    long start(int interval) {
        return starts[interval];
    }

    int node(int interval) {
        return nodes[interval];
    }

    int at(long address) {
        int interval = AddressOrder.floor(starts, count, address);
        return interval < 0 ? UnitCode.NONE : nodes[interval];
    }
}
