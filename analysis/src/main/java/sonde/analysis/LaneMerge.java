package sonde.analysis;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;

/**
 * The rows of all lanes by time, in runs as long as one lane stays ahead of the others. A binary
 * heap over the lanes' next times; equal times in the order of the lanes.
 */
final class LaneMerge {
    private final DecodeAhead reader;
    private final @Nullable Batch[] batches;
    private final int[] position;
    private final long[] next;
    // heap[0] is the lane whose next row is first; the second is heap[1] or heap[2].
    private final int[] heap;
    private int heapSize;
    private @Nullable Batch batch;
    private int lane = -1;
    private int from;
    private int to;

    LaneMerge(DecodeAhead reader) throws IOException {
        this.reader = reader;
        int lanes = reader.lanes();
        batches = new Batch[lanes];
        position = new int[lanes];
        next = new long[lanes];
        heap = new int[lanes];
        for (int i = 0; i < lanes; i++) {
            if (refill(i)) {
                heap[heapSize++] = i;
            }
        }
        for (int i = heapSize / 2 - 1; i >= 0; i--) {
            sink(i);
        }
    }

    /** Goes to the next run; false when there is none. */
    boolean advance() throws IOException {
        if (lane >= 0) {
            settle();
        }
        if (heapSize == 0) {
            return false;
        }
        lane = heap[0];
        Batch current = batches[lane];
        if (current == null) {
            throw new IllegalStateException("a lane without batch in the heap");
        }
        batch = current;
        from = position[lane];
        to = end(current, from + 1);
        return true;
    }

    /** The batch of the run. */
    Batch batch() {
        Batch current = batch;
        if (current == null) {
            throw new IllegalStateException("before the first run");
        }
        return current;
    }

    /** First row of the run. */
    int from() {
        return from;
    }

    /** The row after the run. */
    int to() {
        return to;
    }

    /** The end of the run: the first row from {@code row} that another lane comes before. */
    private int end(Batch current, int row) {
        int size = current.size();
        if (heapSize == 1) {
            return size;
        }
        int other = heap[1];
        if (heapSize > 2 && before(heap[2], other)) {
            other = heap[2];
        }
        // Another lane of smaller number goes first at equal times.
        long limit = other < lane ? next[other] : next[other] + 1;
        int end = row;
        while (end < size && current.time(end) < limit) {
            end++;
        }
        return end;
    }

    /** Puts the lane of the finished run where its next row belongs. */
    private void settle() throws IOException {
        Batch current = batch();
        position[lane] = to;
        if (to < current.size()) {
            next[lane] = current.time(to);
        } else if (!refill(lane)) {
            heap[0] = heap[--heapSize];
        }
        if (heapSize > 1) {
            sink(0);
        }
    }

    private boolean refill(int index) throws IOException {
        Batch fresh = reader.next(index);
        while (fresh != null && fresh.size() == 0) {
            fresh = reader.next(index);
        }
        batches[index] = fresh;
        position[index] = 0;
        if (fresh == null) {
            return false;
        }
        next[index] = fresh.time(0);
        return true;
    }

    private boolean before(int one, int other) {
        return next[one] < next[other] || (next[one] == next[other] && one < other);
    }

    private void sink(int start) {
        int parent = start;
        int moving = heap[parent];
        while (true) {
            int child = 2 * parent + 1;
            if (child >= heapSize) {
                break;
            }
            if (child + 1 < heapSize && before(heap[child + 1], heap[child])) {
                child++;
            }
            if (!before(heap[child], moving)) {
                break;
            }
            heap[parent] = heap[child];
            parent = child;
        }
        heap[parent] = moving;
    }
}
