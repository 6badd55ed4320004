package sonde.recording;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.Clock;
import sonde.event.FrameNames;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.event.Source;
import sonde.recording.RowStore.Chunk;

/** The rows of a {@link RowStore} by time: each chunk sorted by itself, then merged. */
final class StoredRecording implements Recording {
    private final RowStore store;
    private final Source source;
    private final List<String> notes;
    private final @Nullable FrameNames frames;
    private final int[][] orders;
    private boolean closed;

    StoredRecording(
            RowStore store,
            String name,
            Clock clock,
            List<String> notes,
            @Nullable FrameNames frames) {
        this.store = store;
        this.source = new Source(name, clock, store.types);
        this.notes = List.copyOf(notes);
        this.frames = frames;
        this.orders = new int[store.chunks.size()][];
        for (int i = 0; i < orders.length; i++) {
            orders[i] = order(store.chunks.get(i));
        }
    }

    @Override
    public List<Source> sources() {
        return List.of(source);
    }

    @Override
    public List<Lane> lanes() {
        return List.of(new StoredLane());
    }

    @Override
    public List<String> notes() {
        return notes;
    }

    @Override
    public long sampleNanos() {
        return store.sampleNanos;
    }

    @Override
    public @Nullable FrameNames frames() {
        return frames;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            store.close();
        }
    }

    /** Offsets of a chunk's rows by time, in units of 8 bytes. */
    private static int[] order(Chunk chunk) {
        int[] offsets = new int[chunk.rows];
        int at = 0;
        for (int i = 0; i < offsets.length; i++) {
            offsets[i] = at >>> 3;
            at += size(chunk.memory, at);
        }
        if (!chunk.sorted) {
            TimeOrder.sort(offsets, offset -> time(chunk.memory, offset));
        }
        return offsets;
    }

    private static int size(MemorySegment memory, long at) {
        return RowStore.HEADER_BYTES + memory.get(ValueLayout.JAVA_INT, at + 24) + 7 & -8;
    }

    private static long time(MemorySegment memory, int offset) {
        return memory.get(ValueLayout.JAVA_LONG, 8L * offset);
    }

    /** Where a chunk stands in the merge. */
    private static final class ChunkCursor {
        final int number;
        final MemorySegment memory;
        final int[] order;
        int at;
        long time;

        ChunkCursor(int number, Chunk chunk, int[] order) {
            this.number = number;
            this.memory = chunk.memory;
            this.order = order;
            this.time = chunk.first;
        }
    }

    /** All rows by time. */
    private final class StoredLane implements Lane {
        private static final int FULL_BYTES = 4 << 20;

        private final PriorityQueue<ChunkCursor> later =
                new PriorityQueue<>((a, b) ->
                        a.time != b.time
                                ? Long.compare(a.time, b.time)
                                : Integer.compare(a.number, b.number));
        private @Nullable ChunkCursor run;
        private Batch batch = new Batch(source, ByteOrder.nativeOrder());
        private byte[] memory = new byte[1 << 16];
        private int used;

        StoredLane() {
            List<ChunkCursor> runs = new ArrayList<>();
            for (int i = 0; i < orders.length; i++) {
                if (orders[i].length > 0) {
                    runs.add(new ChunkCursor(i, store.chunks.get(i), orders[i]));
                }
            }
            later.addAll(runs);
            run = later.poll();
        }

        @Override
        public Source source() {
            return source;
        }

        @Override
        public String buffer() {
            return "";
        }

        @Override
        public @Nullable Batch next() {
            if (batch.isRetained()) {
                batch = new Batch(source, ByteOrder.nativeOrder());
                memory = new byte[memory.length];
            }
            used = 0;
            batch.reset(MemorySegment.ofArray(memory));
            ChunkCursor current = run;
            while (current != null && !batch.isFull() && used < FULL_BYTES) {
                copy(current.memory, 8L * current.order[current.at]);
                current = step(current);
            }
            run = current;
            return batch.size() == 0 ? null : batch;
        }

        private @Nullable ChunkCursor step(ChunkCursor current) {
            if (++current.at == current.order.length) {
                return later.poll();
            }
            current.time = time(current.memory, current.order[current.at]);
            ChunkCursor next = later.peek();
            boolean stays =
                    next == null
                            || current.time < next.time
                            || current.time == next.time && current.number < next.number;
            if (stays) {
                return current;
            }
            later.add(current);
            return later.poll();
        }

        private void copy(MemorySegment from, long at) {
            int size = from.get(ValueLayout.JAVA_INT, at + 24);
            int stack = from.get(ValueLayout.JAVA_INT, at + 28);
            int pid = from.get(ValueLayout.JAVA_INT, at + 16);
            long weight = from.get(ValueLayout.JAVA_LONG, at + 32);
            int start = reserve(size);
            MemorySegment.copy(
                    from, ValueLayout.JAVA_BYTE, at + RowStore.HEADER_BYTES, memory, start, size);
            int row =
                    batch.add(
                            from.get(ValueLayout.JAVA_LONG, at),
                            from.get(ValueLayout.JAVA_INT, at + 20),
                            from.get(ValueLayout.JAVA_INT, at + 12),
                            from.get(ValueLayout.JAVA_INT, at + 8),
                            start,
                            size);
            if (stack != 0 || pid != -1 || weight != 1) {
                int first = (int) store.stackStarts.at(stack);
                int depth = (int) store.stackStarts.at(stack + 1) - first;
                int to = reserve(8 * depth);
                MemorySegment all = MemorySegment.ofArray(memory);
                for (int i = 0; i < depth; i++) {
                    long entry = store.stackEntries.at(first + i);
                    all.set(ValueLayout.JAVA_LONG_UNALIGNED, to + 8L * i, entry);
                }
                batch.sample(row, pid, weight, to, depth);
            }
        }

        private int reserve(int size) {
            int start = used + 7 & -8;
            int end = Math.addExact(start, size);
            if (end > memory.length) {
                memory = Arrays.copyOf(memory, Math.max(end, 2 * memory.length));
                batch.moveTo(MemorySegment.ofArray(memory));
            }
            used = end;
            return start;
        }

        @Override
        public void close() {
            run = null;
            later.clear();
        }
    }
}
