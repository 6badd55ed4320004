package sonde.recording.ftrace;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.event.Batch;
import sonde.event.Lane;
import sonde.recording.ftrace.RowText.Turn;

/**
 * All events of lanes as text, by time; of equal times the earlier lane's first. One thread goes
 * through the rows and several turn them to text, a block of rows at a time.
 */
public final class EventListing {
    private static final int DRAIN_BYTES = 1 << 16;

    private final List<LanePosition> positions = new ArrayList<>();
    private final Filter filter;
    private int threads = Math.min(4, Runtime.getRuntime().availableProcessors());

    /** Which rows are shown. */
    @FunctionalInterface
    public interface Filter {
        /** All. */
        Filter ALL = (batch, row) -> true;

        /** Whether a row is shown; asked once for each, in order, by one thread. */
        boolean accepts(Batch batch, int row);

        /** Whether no further row will be accepted: the listing ends. */
        default boolean isDone() {
            return false;
        }
    }

    /**
     * A lane to list.
     *
     * @param lane at its start; closed at the end of the listing
     * @param text for its rows
     * @param label before each of its lines
     */
    public record ListedLane(Lane lane, RowText text, String label) {}

    /** A listing of parts whose clocks are one. */
    public EventListing(List<ListedLane> parts, Filter filter) {
        this.filter = filter;
        for (ListedLane part : parts) {
            positions.add(new LanePosition(part));
        }
    }

    /** A listing of the lanes of one recording, each line labelled with its buffer. */
    public EventListing(List<Lane> lanes, RowText text) {
        this(labelled(lanes, lane -> text), Filter.ALL);
    }

    /** Lanes with labels of equal width, as trace-cmd writes them; none for a single buffer. */
    public static List<ListedLane> labelled(List<Lane> lanes, Function<Lane, RowText> text) {
        int columns = 0;
        for (Lane lane : lanes) {
            columns = Math.max(columns, lane.buffer().length());
        }
        List<ListedLane> parts = new ArrayList<>();
        for (Lane lane : lanes) {
            parts.add(new ListedLane(lane, text.apply(lane), label(lane.buffer(), columns)));
        }
        return parts;
    }

    private static String label(String buffer, int columns) {
        if (columns == 0) {
            return "";
        }
        String padded = " ".repeat(columns - buffer.length()) + buffer;
        return padded + (buffer.isEmpty() ? "  " : ": ");
    }

    /** Where a lane stands. */
    private static final class LanePosition {
        private final Lane lane;
        private final RowText text;
        private final @Nullable PackedText label;
        // Whether any of its rows may be told together with the one behind it.
        private final boolean looksAhead;
        private @Nullable LaneAhead ahead;
        private @Nullable Batch batch;
        private int row;
        private long time;
        private @Nullable ListedRows holder;
        private @Nullable Batch held;

        LanePosition(ListedLane part) {
            this.lane = part.lane;
            this.text = part.text;
            this.looksAhead =
                    part.lane.source().types().stream()
                            .anyMatch(type -> part.text.looksAhead(type.id()));
            this.label =
                    part.label.isEmpty()
                            ? null
                            : new PackedText(part.label.getBytes(StandardCharsets.UTF_8));
        }

        void begin(@Nullable ExecutorService decoder) {
            ahead = new LaneAhead(lane, text, decoder);
        }

        void load() throws IOException {
            batch = ahead == null ? null : ahead.next();
            row = 0;
            if (batch != null) {
                time = batch.time(0);
            }
        }

        boolean isFree() {
            return ahead != null && ahead.isFree();
        }

        /** To a row of the batch, or to the next batch when that is its end. */
        void moveTo(int to) throws IOException {
            row = to - 1;
            step();
        }

        void step() throws IOException {
            Batch current = batch;
            if (current != null && ++row < current.size()) {
                time = current.time(row);
            } else {
                load();
            }
        }

        void write(TextBuffer out, Batch from, int at, long previous) {
            if (label != null) {
                out.put(label);
            }
            text.appendAfter(out, from, at, previous);
        }

        boolean looksAhead(Batch at, int row) {
            return looksAhead && text.looksAhead(at.type(row));
        }

        /** Whether the row before one of the same batch is told together with it. */
        boolean endsPair(Batch at, int row) {
            return looksAhead(at, row - 1) && text.isPair(at, row - 1, at, row);
        }

        /** Writes a row and, where they are told together, the one behind it, if before the end. */
        boolean writePair(TextBuffer out, Batch from, int at, int end) {
            if (label != null) {
                out.put(label);
            }
            return text.append(out, from, at, at + 1 < end ? from : null, at + 1);
        }
    }

    /** Rows in order that one thread turns to text. */
    @SuppressWarnings("ReferenceEquality") // batches are told apart by identity
    private final class ListedRows {
        private static final int ROWS = 4096;
        // The first line is to be seen before there are so many.
        private static final int FIRST_ROWS = 32;
        // Rows that follow one another in a batch are one run.
        private final Batch[] batches = new Batch[ROWS];
        private final LanePosition[] origins = new LanePosition[ROWS];
        private final int[] starts = new int[ROWS];
        private final int[] ends = new int[ROWS];
        private final List<Batch> held = new ArrayList<>();
        private final TextBuffer out = new TextBuffer(DRAIN_BYTES * 8);
        // Lines that were written in order, and where in the block they belong.
        private final TextBuffer inserts = new TextBuffer(64);
        private final List<int[]> insertAt = new ArrayList<>();
        private @Nullable Future<?> running;
        private boolean plain;
        private int runs;
        private int count;
        private int most = ROWS;
        // Whether a line that was written in order stands behind the last run.
        private boolean closed;
        // Time of the row before the first of this block.
        private long before = RowText.NO_TIME;

        void add(LanePosition position, Batch batch, int from, int to) {
            if (position.holder != this || position.held != batch) {
                position.holder = this;
                position.held = batch;
                held.add(batch.retain());
            }
            count += to - from;
            int last = runs - 1;
            if (last >= 0 && !closed && batches[last] == batch && ends[last] == from) {
                ends[last] = to;
                return;
            }
            closed = false;
            batches[runs] = batch;
            origins[runs] = position;
            starts[runs] = from;
            ends[runs++] = to;
        }

        int room() {
            return most - count;
        }

        /** A line was written to the inserts; it comes out in its place. */
        void inserted() {
            insertAt.add(new int[] {runs, inserts.size()});
            closed = true;
        }

        boolean isFull() {
            return count >= most || inserts.size() > DRAIN_BYTES;
        }

        boolean isEmpty() {
            return count == 0 && insertAt.isEmpty();
        }

        void format() {
            lines();
            plain = out.isPlain();
        }

        private void lines() {
            int from = 0;
            int written = 0;
            for (int[] insert : insertAt) {
                lines(from, insert[0]);
                from = insert[0];
                out.put(inserts, written, insert[1]);
                written = insert[1];
            }
            lines(from, runs);
        }

        private void lines(int from, int to) {
            for (int i = from; i < to; i++) {
                run(origins[i], batches[i], starts[i], ends[i]);
            }
        }

        private void run(LanePosition position, Batch batch, int from, int to) {
            for (int row = from; row < to; row++) {
                if (!position.looksAhead(batch, row)) {
                    position.write(out, batch, row, before);
                } else if (position.writePair(out, batch, row, to)) {
                    row++;
                }
                before = position.text.isTimed(batch.type(row)) ? batch.time(row) : before;
            }
        }

        /** Waits for the text, writes it, and is empty again. */
        void finish(OutputStream to) throws IOException {
            try {
                if (running != null) {
                    running.get();
                }
            } catch (ExecutionException e) {
                if (e.getCause() instanceof InternalError fault) {
                    throw fault;
                }
                throw new IllegalStateException(e.getCause());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("listing");
            } finally {
                running = null;
            }
            out.drainTo(to, plain);
            held.forEach(Batch::release);
            held.clear();
            inserts.truncate(0);
            insertAt.clear();
            closed = false;
            runs = 0;
            count = 0;
            for (LanePosition position : positions) {
                position.holder = position.holder == this ? null : position.holder;
            }
        }
    }

    /** Writes every row that the filter accepts; returns how many. */
    public long writeTo(OutputStream out) throws IOException {
        try (ExecutorService workers = Executors.newFixedThreadPool(threads, EventListing::worker);
                ExecutorService decoder =
                        threads < 2
                                ? null
                                : Executors.newSingleThreadExecutor(EventListing::worker)) {
            try {
                positions.forEach(position -> position.begin(decoder));
                return new ListingRun(workers, out).all();
            } finally {
                // After a failure nobody wants the blocks that still wait.
                workers.shutdownNow();
                if (decoder != null) {
                    decoder.shutdownNow();
                }
            }
        } catch (InternalError fault) {
            throw MalformedInputException.shrunk(fault);
        } finally {
            positions.forEach(position -> position.lane.close());
        }
    }

    private static Thread worker(Runnable task) {
        Thread thread = new Thread(task, "listing");
        thread.setDaemon(true);
        return thread;
    }

    /** One writing of everything. */
    private final class ListingRun {
        private final ExecutorService workers;
        private final OutputStream out;
        private final Deque<ListedRows> running = new ArrayDeque<>();
        private ListedRows block = new ListedRows();
        private int rows = ListedRows.FIRST_ROWS;
        private final boolean all = filter.equals(Filter.ALL);
        private long last = RowText.NO_TIME;
        private long count;

        ListingRun(ExecutorService workers, OutputStream out) {
            this.workers = workers;
            this.out = out;
            block.most = rows;
        }

        long all() throws IOException {
            for (LanePosition position : positions) {
                position.load();
            }
            LanePosition first = first(null);
            while (first != null && !filter.isDone()) {
                if (all && first.isFree()) {
                    runFree(first);
                } else {
                    run(first);
                }
                first = first(null);
            }
            flush(0);
            return count;
        }

        /** As {@link #run}, of rows that need no look at each. */
        private void runFree(LanePosition first) throws IOException {
            Batch batch = first.batch;
            if (batch == null) {
                return;
            }
            int from = first.row;
            int end = end(batch, from, limit(first, false));
            boolean isOpen = end == batch.size() && first.looksAhead(batch, end - 1);
            if (isOpen) {
                end--;
            } else if (isPairAcross(first, batch, end)) {
                end++;
            }
            count += end - from;
            while (from < end) {
                if (block.isEmpty()) {
                    block.before = last;
                }
                int to = Math.min(end, from + block.room());
                to += to < end && first.endsPair(batch, to) ? 1 : 0;
                block.add(first, batch, from, to);
                from = to;
                for (int row = to - 1; row >= first.row; row--) {
                    if (first.text.isTimed(batch.type(row))) {
                        last = batch.time(row);
                        break;
                    }
                }
                if (block.isFull()) {
                    flush(rows < ListedRows.ROWS ? 0 : 2 * threads);
                }
            }
            if (isOpen) {
                first.row = end;
                open(first);
            } else {
                first.moveTo(end);
            }
        }

        /** Writes the last row of a batch, whose pair may be in the next batch. */
        private void open(LanePosition first) throws IOException {
            write(block.inserts, first);
            block.inserted();
            count++;
            if (block.isFull()) {
                flush(rows < ListedRows.ROWS ? 0 : 2 * threads);
            }
        }

        /** Whether a row is told with the one before it though a row of another buffer is due. */
        private boolean isPairAcross(LanePosition first, Batch batch, int row) {
            return row < batch.size()
                    && first.endsPair(batch, row)
                    && isBefore(batch, row, limit(first, true));
        }

        /** The first row behind {@code row} whose time is not before the limit. */
        private static int end(Batch batch, int row, long limit) {
            int low = row;
            int step = 1;
            while (low + step < batch.size() && isBefore(batch, low + step, limit)) {
                low += step;
                step *= 2;
            }
            int high = Math.min(low + step, batch.size());
            while (high - low > 1) {
                int middle = (low + high) >>> 1;
                if (isBefore(batch, middle, limit)) {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            return high;
        }

        private static boolean isBefore(Batch batch, int row, long limit) {
            return Long.compareUnsigned(batch.time(row), limit) < 0;
        }

        /** Rows of one lane as long as no other lane's comes first. */
        private void run(LanePosition first) throws IOException {
            Batch batch = first.batch;
            if (batch == null) {
                return;
            }
            long limit = limit(first, false);
            int row = first.row;
            int end = batch.size();
            do {
                if (!filter.accepts(batch, row)) {
                    skip(first, batch, row);
                } else {
                    switch (first.text.turn(batch, row)) {
                        case ANY -> {
                            if (row + 1 == end && first.looksAhead(batch, row)) {
                                first.row = row;
                                open(first);
                                return;
                            }
                            row = add(first, batch, row);
                        }
                        case IN_ORDER -> {
                            first.write(block.inserts, batch, row, last);
                            block.inserted();
                        }
                        case ALONE -> {
                            count++;
                            first.row = row;
                            alone(first);
                            return;
                        }
                    }
                    count++;
                    if (first.text.isTimed(batch.type(row))) {
                        last = batch.time(row);
                    }
                    if (block.isFull()) {
                        flush(rows < ListedRows.ROWS ? 0 : 2 * threads);
                    }
                }
                row++;
            } while (row < end
                    && !filter.isDone()
                    && Long.compareUnsigned(batch.time(row), limit) < 0);
            first.row = row - 1;
            first.step();
        }

        /** Adds a row, with the one behind it where they are told together; the last one added. */
        private int add(LanePosition first, Batch batch, int row) {
            if (block.isEmpty()) {
                block.before = last;
            }
            int end = isPairAcross(first, batch, row + 1) ? row + 2 : row + 1;
            block.add(first, batch, row, end);
            // What is behind a row that has no pair may look like one: rows between are hidden.
            block.closed = end == row + 1 && first.looksAhead(batch, row);
            return end - 1;
        }

        /** The time from which on another lane (of the same buffer) comes first. */
        private long limit(LanePosition first, boolean sameBuffer) {
            long limit = -1;
            boolean before = true;
            for (LanePosition other : positions) {
                before &= other != first;
                if (other != first
                        && other.batch != null
                        && (!sameBuffer || isLike(other, first))) {
                    // An earlier lane comes first at equal times, a later one after them.
                    long end = before || other.time == -1 ? other.time : other.time + 1;
                    limit = Long.compareUnsigned(end, limit) < 0 ? end : limit;
                }
            }
            return limit;
        }

        private void skip(LanePosition first, Batch batch, int row) throws IOException {
            if (first.text.turn(batch, row) == Turn.ALONE) {
                flush(0);
                first.text.skip(batch, row);
            }
        }

        private void alone(LanePosition first) throws IOException {
            flush(0);
            write(block.out, first);
            block.out.drainTo(out, block.out.isPlain());
        }

        /** Hands the block to a worker; an empty one takes its place, {@code most} keep running. */
        private void flush(int most) throws IOException {
            ListedRows full = block;
            ListedRows free = full;
            if (!full.isEmpty()) {
                full.running = workers.submit(full::format);
                running.add(full);
                free = null;
            }
            while (running.size() > most) {
                ListedRows done = running.remove();
                done.finish(out);
                free = done;
            }
            if (rows < ListedRows.ROWS) {
                out.flush(); // a reader waits for the first lines
            }
            block = free == null ? new ListedRows() : free;
            rows = Math.min(ListedRows.ROWS, 4 * rows);
            block.most = rows;
        }

        private void write(TextBuffer buffer, LanePosition first) throws IOException {
            Batch batch = first.batch;
            if (batch == null) {
                return;
            }
            int row = first.row;
            if (!first.text.looksAhead(batch.type(row))) {
                first.write(buffer, batch, row, last);
                last = first.text.isTimed(batch.type(row)) ? batch.time(row) : last;
                first.step();
                return;
            }
            if (first.label != null) {
                buffer.put(first.label);
            }
            batch.retain();
            first.step();
            // Only the function graph looks at what comes next, in its own buffer.
            LanePosition next = first(first);
            Batch nextBatch = next == null ? null : next.batch;
            boolean both =
                    nextBatch == null || next == null
                            ? first.text.append(buffer, batch, row, null, 0)
                            : first.text.append(buffer, batch, row, nextBatch, next.row);
            batch.release();
            if (both && next != null) {
                next.step();
            }
        }

        @SuppressWarnings("ReferenceEquality") // sources are told apart by identity
        private static boolean isLike(LanePosition one, LanePosition other) {
            return one.lane.buffer().equals(other.lane.buffer())
                    && one.lane.source() == other.lane.source();
        }

        private @Nullable LanePosition first(@Nullable LanePosition like) {
            LanePosition first = null;
            for (LanePosition position : positions) {
                boolean fits = like == null || isLike(position, like);
                if (position.batch != null
                        && fits
                        && (first == null || Long.compareUnsigned(position.time, first.time) < 0)) {
                    first = position;
                }
            }
            return first;
        }
    }
}
