package sonde.format.ftrace;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.Lane;

/**
 * All events of a recording as text, by time over all lanes; of equal times the earlier lane's
 * first.
 */
public final class EventListing {
    private static final int DRAIN_BYTES = 1 << 16;

    private final List<Position> positions = new ArrayList<>();
    private final EventText text;
    private final int nameColumns;

    /** Where a lane stands. */
    private final class Position {
        private final Lane lane;
        private final String label;
        private @Nullable Batch batch;
        private int row;
        private long time;
        private @Nullable Block holder;
        private @Nullable Batch held;

        Position(Lane lane, String label) {
            this.lane = lane;
            this.label = label;
        }

        void load() throws IOException {
            batch = lane.next();
            row = 0;
            if (batch != null) {
                time = batch.time(0);
            }
        }

        void step() throws IOException {
            Batch current = batch;
            if (current != null && ++row < current.size()) {
                time = current.time(row);
            } else {
                load();
            }
        }
    }

    /** A listing of lanes that stand at their start; they are closed at its end. */
    public EventListing(List<Lane> lanes, EventText text) {
        this.text = text;
        int columns = 0;
        for (Lane lane : lanes) {
            columns = Math.max(columns, lane.buffer().length());
        }
        this.nameColumns = columns;
        for (Lane lane : lanes) {
            positions.add(new Position(lane, label(lane.buffer(), columns)));
        }
    }

    private static String label(String buffer, int columns) {
        if (columns == 0) {
            return "";
        }
        String padded = " ".repeat(columns - buffer.length()) + buffer;
        return padded + (buffer.isEmpty() ? "  " : ": ");
    }

    /** Rows in order that one thread turns to text. */
    private final class Block {
        private static final int ROWS = 4096;
        private final Batch[] batches = new Batch[ROWS];
        private final int[] rows = new int[ROWS];
        private final String[] labels = new String[ROWS];
        private final List<Batch> held = new ArrayList<>();
        private final TextBuffer out = new TextBuffer(DRAIN_BYTES * 8);
        private @Nullable Future<?> running;
        private int count;

        void add(Position position, Batch batch) {
            if (position.holder != this || position.held != batch) {
                position.holder = this;
                position.held = batch;
                held.add(batch.retain());
            }
            batches[count] = batch;
            rows[count] = position.row;
            labels[count++] = position.label;
        }

        void format() {
            for (int i = 0; i < count; i++) {
                if (nameColumns > 0) {
                    out.put(labels[i]);
                }
                text.append(out, batches[i], rows[i]);
            }
        }

        /** Waits for the text, writes it, and is empty again. */
        void finish(OutputStream to) throws IOException {
            try {
                if (running != null) {
                    running.get();
                }
            } catch (ExecutionException e) {
                throw new IllegalStateException(e.getCause());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("listing");
            } finally {
                running = null;
            }
            out.drainTo(to);
            held.forEach(Batch::release);
            held.clear();
            count = 0;
            for (Position position : positions) {
                position.holder = position.holder == this ? null : position.holder;
            }
        }
    }

    /** Writes every event; returns how many. */
    public long writeTo(OutputStream out) throws IOException {
        int threads = Math.min(4, Runtime.getRuntime().availableProcessors());
        long count = 0;
        try (ExecutorService workers = Executors.newFixedThreadPool(threads)) {
            Deque<Block> running = new ArrayDeque<>();
            Block block = new Block();
            for (Position position : positions) {
                position.load();
            }
            for (Position first = first(null); first != null; first = first(null)) {
                count++;
                Batch batch = first.batch;
                if (batch != null && text.isSerial(batch, first.row)) {
                    block = start(workers, block, running, 0, out);
                    write(block.out, first);
                    block.out.drainTo(out);
                } else if (batch != null) {
                    block.add(first, batch);
                    first.step();
                    if (block.count == Block.ROWS) {
                        block = start(workers, block, running, 2 * threads, out);
                    }
                }
            }
            start(workers, block, running, 0, out);
        } finally {
            positions.forEach(position -> position.lane.close());
        }
        return count;
    }

    /** Hands a block to a worker; an empty one comes back, at most {@code most} stay running. */
    private Block start(
            ExecutorService workers, Block full, Deque<Block> running, int most, OutputStream out)
            throws IOException {
        if (full.count > 0) {
            full.running = workers.submit(full::format);
            running.add(full);
        }
        Block free = full.count > 0 ? null : full;
        while (running.size() > most) {
            free = running.remove();
            free.finish(out);
        }
        return free == null ? new Block() : free;
    }

    private void write(TextBuffer buffer, Position first) throws IOException {
        Batch batch = first.batch;
        if (batch == null) {
            return;
        }
        if (nameColumns > 0) {
            buffer.put(first.label);
        }
        int row = first.row;
        if (!text.looksAhead(batch.type(row))) {
            text.append(buffer, batch, row);
            first.step();
            return;
        }
        batch.retain();
        first.step();
        // Only the function graph looks at what comes next, in its own buffer.
        Position next = first(first.lane.buffer());
        Batch nextBatch = next == null ? null : next.batch;
        boolean both =
                nextBatch == null || next == null
                        ? text.append(buffer, batch, row, null, 0)
                        : text.append(buffer, batch, row, nextBatch, next.row);
        batch.release();
        if (both && next != null) {
            next.step();
        }
    }

    private @Nullable Position first(@Nullable String buffer) {
        Position first = null;
        for (Position position : positions) {
            boolean fits = buffer == null || position.lane.buffer().equals(buffer);
            if (position.batch != null
                    && fits
                    && (first == null || Long.compareUnsigned(position.time, first.time) < 0)) {
                first = position;
            }
        }
        return first;
    }
}
