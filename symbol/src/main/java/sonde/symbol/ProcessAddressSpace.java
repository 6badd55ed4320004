package sonde.symbol;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import sonde.binary.AddressOrder;

/**
 * Disjoint mappings in ascending order. After a fork parent and child hold the same object until
 * one of them changes it.
 */
final class ProcessAddressSpace {
    /** Module of a mapping without a file. */
    static final int ANONYMOUS = -1;

    /** vm.max_map_count of hostile size must not grow us without end. */
    private static final int MAPPING_LIMIT = 1 << 17;

    /** Modules of code without a file, by bits 40.. of the address and whether it was mapped. */
    final Map<Long, Integer> blocks;

    boolean isShared;

    /** Says what is mapped: equal only when all of it is. */
    long stamp;

    private long[] starts;
    private long[] ends;
    private long[] values;
    private int[] modules;
    private int count;
    private int last;

    ProcessAddressSpace() {
        this(8, new HashMap<>());
    }

    private ProcessAddressSpace(int capacity, Map<Long, Integer> blocks) {
        starts = new long[capacity];
        ends = new long[capacity];
        values = new long[capacity];
        modules = new int[capacity];
        this.blocks = blocks;
    }

    ProcessAddressSpace copy() {
        ProcessAddressSpace copy = new ProcessAddressSpace(count + 8, new HashMap<>(blocks));
        System.arraycopy(starts, 0, copy.starts, 0, count);
        System.arraycopy(ends, 0, copy.ends, 0, count);
        System.arraycopy(values, 0, copy.values, 0, count);
        System.arraycopy(modules, 0, copy.modules, 0, count);
        copy.count = count;
        return copy;
    }

    int count() {
        return count;
    }

    /** Index of the mapping that holds an address, -1 when none does. */
    int find(long address) {
        int at = last;
        if (at < count && holds(at, address)) {
            return at;
        }
        at = AddressOrder.floor(starts, count, address);
        if (at < 0 || Long.compareUnsigned(address, ends[at]) >= 0) {
            return -1;
        }
        last = at;
        return at;
    }

    /** Begin of the mapping of a file that lies nearest below an address; -1 for none. */
    long fileBelow(long address) {
        int at = AddressOrder.floor(starts, count, address);
        return at < 0 || modules[at] == ANONYMOUS ? -1 : starts[at];
    }

    private boolean holds(int at, long address) {
        return Long.compareUnsigned(address, starts[at]) >= 0
                && Long.compareUnsigned(address, ends[at]) < 0;
    }

    int module(int mapping) {
        return modules[mapping];
    }

    /** What to add to an address to get its location. */
    long value(int mapping) {
        return values[mapping];
    }

    /** Puts a mapping over what was there; false when it is one too many. */
    boolean put(long start, long end, int module, long value) {
        int from = AddressOrder.floor(starts, count, start);
        if (from < 0 || Long.compareUnsigned(ends[from], start) <= 0) {
            from++;
        }
        int to = from;
        while (to < count && Long.compareUnsigned(starts[to], end) < 0) {
            to++;
        }
        boolean left = from < to && Long.compareUnsigned(starts[from], start) < 0;
        boolean right = from < to && Long.compareUnsigned(ends[to - 1], end) > 0;
        long rightEnd = right ? ends[to - 1] : 0;
        long rightValue = right ? values[to - 1] : 0;
        int rightModule = right ? modules[to - 1] : 0;
        int added = 1 + (left ? 1 : 0) + (right ? 1 : 0);
        int newCount = count - (to - from) + added;
        if (newCount > MAPPING_LIMIT) {
            return false;
        }
        replace(from, to, added, newCount);
        int at = from;
        if (left) {
            ends[at++] = start;
        }
        set(at, start, end, module, value);
        if (right) {
            set(at + 1, end, rightEnd, rightModule, rightValue);
        }
        return true;
    }

    /** Makes room for {@code added} mappings in place of {@code from..to}. */
    private void replace(int from, int to, int added, int newCount) {
        if (newCount > starts.length) {
            int size = Math.max(newCount, 2 * starts.length);
            starts = Arrays.copyOf(starts, size);
            ends = Arrays.copyOf(ends, size);
            values = Arrays.copyOf(values, size);
            modules = Arrays.copyOf(modules, size);
        }
        int tail = count - to;
        System.arraycopy(starts, to, starts, from + added, tail);
        System.arraycopy(ends, to, ends, from + added, tail);
        System.arraycopy(values, to, values, from + added, tail);
        System.arraycopy(modules, to, modules, from + added, tail);
        count = newCount;
    }

    private void set(int at, long start, long end, int module, long value) {
        starts[at] = start;
        ends[at] = end;
        modules[at] = module;
        values[at] = value;
    }
}
