package sonde.store.table;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.Lane;
import sonde.event.ReadRows;
import sonde.event.Recording;
import sonde.event.Source;
import sonde.store.duckdb.ColumnVector;
import sonde.store.duckdb.TableFunction;
import sonde.store.duckdb.TableFunction.ScanWorker;

/**
 * A reading of a table of events. Workers take batches from lanes, one at a time under the lane's
 * lock, and fill columns from them outside of it, so that a recording of one lane uses more than
 * one processor too.
 */
final class EventScan implements TableFunction.TableScan {
    private final EventTable table;
    private final List<@Nullable EventColumn> columns;
    private final List<SharedLane> lanes = new ArrayList<>();
    private final AtomicInteger nextStart = new AtomicInteger();

    EventScan(EventTable table, List<@Nullable EventColumn> columns) throws IOException {
        this.table = table;
        this.columns = columns;
        try {
            for (StoredTrace trace : table.traces()) {
                for (Recording recording : trace.recordings()) {
                    for (Lane lane : recording.lanes()) {
                        open(trace, lane);
                    }
                }
            }
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
    }

    private void open(StoredTrace trace, Lane lane) {
        boolean[] wanted = new boolean[lane.source().types().size()];
        boolean any = false;
        for (int type = 0; type < wanted.length; type++) {
            wanted[type] = table.has(lane.source().types().get(type));
            any |= wanted[type];
        }
        if (any) {
            lanes.add(new SharedLane(trace, lane, wanted));
        } else {
            lane.close();
        }
    }

    /** A lane that workers share. */
    static final class SharedLane {
        final StoredTrace trace;
        final Source source;
        final boolean[] wanted;
        private final Lane lane;
        private boolean ended;

        SharedLane(StoredTrace trace, Lane lane, boolean[] wanted) {
            this.trace = trace;
            this.lane = lane;
            this.source = lane.source();
            this.wanted = wanted;
        }

        synchronized @Nullable Batch next() throws IOException {
            if (ended) {
                return null;
            }
            Batch batch = lane.next();
            if (batch == null) {
                ended = true;
                return null;
            }
            ReadRows.add(batch);
            return batch.retain();
        }

        synchronized void release(Batch batch) {
            batch.release();
        }

        synchronized void close() {
            ended = true;
            lane.close();
        }
    }

    @Override
    public int threads() {
        return Math.max(1, Runtime.getRuntime().availableProcessors());
    }

    @Override
    public ScanWorker worker() {
        return new EventScanWorker(nextStart.getAndIncrement());
    }

    @Override
    public void close() {
        lanes.forEach(SharedLane::close);
    }

    /** The readers of one source's fields, for one worker. */
    private final class Fillers {
        final Source source;
        final ColumnFiller[] fillers = new ColumnFiller[columns.size()];

        Fillers(SharedLane lane) {
            source = lane.source;
            for (int i = 0; i < fillers.length; i++) {
                EventColumn column = columns.get(i);
                fillers[i] =
                        column == null
                                ? ColumnFiller.NOTHING
                                : ColumnFiller.of(table, column, lane);
            }
        }
    }

    private final class EventScanWorker implements TableFunction.ScanWorker {
        private final List<Fillers> known = new ArrayList<>();
        private final int[] rows = new int[ColumnVector.CAPACITY];
        private int lane;
        private int tried;
        private @Nullable SharedLane from;
        private @Nullable Batch batch;
        private @Nullable Fillers fillers;
        private int position;

        EventScanWorker(int start) {
            lane = lanes.isEmpty() ? 0 : start % lanes.size();
        }

        @Override
        public int fill(ColumnVector[] out) throws IOException {
            int filled = 0;
            while (filled < ColumnVector.CAPACITY) {
                Batch current = batch;
                SharedLane shared = from;
                Fillers with = fillers;
                if (current == null || shared == null || with == null) {
                    if (!advance()) {
                        break;
                    }
                    continue;
                }
                int count = select(current, shared.wanted, ColumnVector.CAPACITY - filled);
                for (int i = 0; i < out.length; i++) {
                    with.fillers[i].fill(current, rows, count, out[i], filled);
                }
                filled += count;
                if (position == current.size()) {
                    release();
                }
            }
            count(filled);
            return filled;
        }

        private void count(int filled) {
            for (EventColumn column : columns) {
                if (column != null) {
                    column.decoded().add(filled);
                }
            }
        }

        /** Puts the numbers of the next wanted rows into {@link #rows}. */
        private int select(Batch current, boolean[] wanted, int most) {
            int count = 0;
            int row = position;
            int size = current.size();
            while (row < size && count < most) {
                rows[count] = row;
                count += wanted[current.type(row)] ? 1 : 0;
                row++;
            }
            position = row;
            return count;
        }

        /** Takes the next batch of any lane; false at the end of all. */
        private boolean advance() throws IOException {
            while (tried < lanes.size()) {
                SharedLane shared = lanes.get(lane);
                Batch next = read(shared);
                if (next != null) {
                    from = shared;
                    batch = next;
                    position = 0;
                    fillers = fillers(shared);
                    tried = 0;
                    return true;
                }
                tried++;
                lane = (lane + 1) % lanes.size();
            }
            return false;
        }

        /** DuckDB passes on a failure's text alone; the failure itself is kept beside. */
        private @Nullable Batch read(SharedLane shared) throws IOException {
            try {
                return shared.next();
            } catch (IOException e) {
                table.failed(e);
                throw e;
            }
        }

        @SuppressWarnings("ReferenceEquality") // sources are told apart by identity
        private Fillers fillers(SharedLane shared) {
            for (Fillers one : known) {
                if (one.source == shared.source) {
                    return one;
                }
            }
            Fillers made = new Fillers(shared);
            known.add(made);
            return made;
        }

        private void release() {
            Batch current = batch;
            SharedLane shared = from;
            if (current != null && shared != null) {
                shared.release(current);
            }
            batch = null;
        }

        @Override
        public void close() {
            release();
        }
    }
}
