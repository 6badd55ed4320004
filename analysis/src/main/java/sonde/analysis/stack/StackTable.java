package sonde.analysis.stack;

import java.util.Arrays;
import sonde.event.Batch;

/**
 * Call chains as a tree of locations, each distinct chain once: a chain is named by the node of its
 * callee, and goes by {@link #parent} to its outermost caller.
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

    private final FrameSymbols symbols;
    private int[] parents = new int[1024];
    private long[] locations = new long[1024];
    private int size;
    // Open addressing: node plus 1.
    private int[] table = new int[4096];

    /** No chains yet; {@code symbols} says what code an address means. */
    public StackTable(FrameSymbols symbols) {
        this.symbols = symbols;
    }

    /**
     * The node of a row's call chain.
     *
     * @param pid process of the row, as its user addresses are to be understood
     * @return {@link #NONE} when the row has no chain
     */
    public int intern(Batch batch, int row, int pid) {
        int depth = Math.min(batch.stackDepth(row), MAX_DEPTH);
        int node = NONE;
        // Callee first in the row; the part an entry belongs to is named by the marker before it.
        int end = depth;
        while (end > 0) {
            int start = end;
            while (start > 0 && !isMarker(batch.stackEntry(row, start - 1))) {
                start--;
            }
            long marker = start > 0 ? batch.stackEntry(row, start - 1) : PERF_CONTEXT_USER;
            if (marker == PERF_CONTEXT_KERNEL || marker == PERF_CONTEXT_USER) {
                boolean told = start > 0 && marker == PERF_CONTEXT_USER;
                node = part(batch, row, start, end, told, node, pid);
            }
            end = start - 1;
        }
        return node;
    }

    /**
     * Adds entries {@code start} to {@code end} of a row under a node.
     *
     * @param user whether the row says that they are user addresses: then callers that lie in no
     *     code are what a function without frame pointer left in the register, and so is whatever
     *     the walk found beyond them
     */
    private int part(Batch batch, int row, int start, int end, boolean user, int under, int pid) {
        int node = under;
        for (int i = end - 1; i >= start; i--) {
            long entry = batch.stackEntry(row, i);
            if (entry == 0) { // a walk of frame pointers ends with one
                continue;
            }
            // All but a part's first are return addresses: the call lies before.
            long address = entry - (i > start && !symbols.isNamed() ? 1 : 0);
            if (user && i > start && !symbols.isCode(pid, address)) {
                node = NONE;
            } else {
                node = child(node, symbols.location(pid, address));
            }
        }
        return node;
    }

    private static boolean isMarker(long entry) {
        return Long.compareUnsigned(entry, PERF_CONTEXT_MAX) >= 0;
    }

    /** The node of a location called from a chain, made when absent. */
    int child(int parent, long location) {
        int mask = table.length - 1;
        int slot = hash(parent, location) & mask;
        while (table[slot] != 0) {
            int node = table[slot] - 1;
            if (locations[node] == location && parents[node] == parent) {
                return node;
            }
            slot = (slot + 1) & mask;
        }
        if (size == parents.length) {
            parents = Arrays.copyOf(parents, 2 * size);
            locations = Arrays.copyOf(locations, 2 * size);
        }
        int node = size++;
        parents[node] = parent;
        locations[node] = location;
        table[slot] = node + 1;
        if (2 * size > table.length) {
            rehash();
        }
        return node;
    }

    private static int hash(int parent, long location) {
        return (int) ((location * 31 + parent) * 0x9E3779B97F4A7C15L >>> 32);
    }

    private void rehash() {
        table = new int[2 * table.length];
        int mask = table.length - 1;
        for (int node = 0; node < size; node++) {
            int slot = hash(parents[node], locations[node]) & mask;
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

    /** The function that a kernel address lies in. */
    public String function(long address) {
        return symbols.frame(symbols.location(-1, address)).name();
    }

    /** The locations of all nodes, each once. */
    public long[] locations() {
        return Arrays.stream(locations, 0, size).distinct().toArray();
    }

    /** What code it is, as {@link FrameSymbols#location} names it. */
    public long location(int node) {
        return locations[node];
    }
}
