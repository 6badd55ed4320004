package sonde.analysis.stack;

import java.util.Arrays;
import sonde.event.Batch;

/**
 * Call chains as a tree of addresses, each distinct chain once: a chain is named by the node of its
 * callee, and goes by {@link #parent} to its outermost caller. User addresses of two address spaces
 * never share a node.
 */
public final class StackTable {
    /** No chain. */
    public static final int NONE = -1;

    /** Frames kept of a chain; sysctl kernel.perf_event_max_stack is 127 unless raised. */
    public static final int MAX_DEPTH = 1024;

    // Markers between the parts of a chain: include/uapi/linux/perf_event.h, perf_callchain_context
    private static final long PERF_CONTEXT_MAX = -4095;
    private static final long PERF_CONTEXT_KERNEL = -128;
    private static final long PERF_CONTEXT_USER = -512;

    private int[] parents = new int[1024];
    private int[] spaces = new int[1024];
    private long[] addresses = new long[1024];
    private boolean[] kernels = new boolean[1024];
    private int size;
    // Open addressing: node plus 1.
    private int[] table = new int[4096];

    /** No chains yet. */
    public StackTable() {}

    /**
     * The node of a row's call chain.
     *
     * @param space address space of the row's process, as {@link Symbols#space} numbers it
     * @return {@link #NONE} when the row has no chain
     */
    public int intern(Batch batch, int row, int space) {
        int depth = Math.min(batch.stackDepth(row), MAX_DEPTH);
        int node = NONE;
        // Callee first in the row; the part an entry belongs to is named by the marker before it.
        int end = depth;
        while (end > 0) {
            int start = end;
            while (start > 0 && !isMarker(batch.stackEntry(row, start - 1))) {
                start--;
            }
            long marker = start > 0 ? batch.stackEntry(row, start - 1) : 0;
            for (int i = end - 1; i >= start; i--) {
                long address = batch.stackEntry(row, i);
                boolean kernel = marker == PERF_CONTEXT_KERNEL || (marker == 0 && address < 0);
                if (kernel || marker == PERF_CONTEXT_USER || marker == 0) {
                    node = child(node, kernel ? -1 : space, address, kernel);
                }
            }
            end = start - 1;
        }
        return node;
    }

    private static boolean isMarker(long entry) {
        return Long.compareUnsigned(entry, PERF_CONTEXT_MAX) >= 0;
    }

    /** The node of an address called from a chain, made when absent. */
    int child(int parent, int space, long address, boolean kernel) {
        int mask = table.length - 1;
        int slot = hash(parent, space, address) & mask;
        while (table[slot] != 0) {
            int node = table[slot] - 1;
            if (addresses[node] == address && parents[node] == parent && spaces[node] == space) {
                return node;
            }
            slot = (slot + 1) & mask;
        }
        if (size == parents.length) {
            parents = Arrays.copyOf(parents, 2 * size);
            spaces = Arrays.copyOf(spaces, 2 * size);
            addresses = Arrays.copyOf(addresses, 2 * size);
            kernels = Arrays.copyOf(kernels, 2 * size);
        }
        int node = size++;
        parents[node] = parent;
        spaces[node] = space;
        addresses[node] = address;
        kernels[node] = kernel;
        table[slot] = node + 1;
        if (2 * size > table.length) {
            rehash();
        }
        return node;
    }

    private static int hash(int parent, int space, long address) {
        long mixed = (address * 31 + parent) * 31 + space;
        mixed *= 0x9E3779B97F4A7C15L;
        return (int) (mixed >>> 32);
    }

    private void rehash() {
        table = new int[2 * table.length];
        int mask = table.length - 1;
        for (int node = 0; node < size; node++) {
            int slot = hash(parents[node], spaces[node], addresses[node]) & mask;
            while (table[slot] != 0) {
                slot = (slot + 1) & mask;
            }
            table[slot] = node + 1;
        }
    }

    /** Number of nodes; a parent's number is smaller than its children's. */
    public int size() {
        return size;
    }

    /** The caller's node, {@link #NONE} at the outermost. */
    public int parent(int node) {
        return parents[node];
    }

    /** The address space, -1 for the kernel. */
    public int space(int node) {
        return spaces[node];
    }

    /** The address: of the instruction for a chain's first entry, else where the call returns. */
    public long address(int node) {
        return addresses[node];
    }

    /** Whether it is kernel code. */
    public boolean isKernel(int node) {
        return kernels[node];
    }
}
