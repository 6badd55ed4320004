package sonde.analysis;

import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import sonde.event.Batch;
import sonde.event.Lane;

/**
 * The rows of lanes that grow, by time. Every row is held back until it is old enough for the other
 * lanes to have delivered theirs; one that comes even later is handed out at once, marked as late.
 * Not safe for several threads.
 */
public final class LiveMerge implements AutoCloseable {
    /** Most batches taken from a lane at once: the rest stays where the lane has it. */
    private static final int MOST_BATCHES = 4;

    /** Rows held back above which a lane is asked for one batch only. */
    private static final int MOST_ROWS = 1 << 20;

    private static final Comparator<PendingBatch> BY_TIME =
            ((Comparator<PendingBatch>) (a, b) -> Long.compareUnsigned(a.time(), b.time()))
                    .thenComparingLong(run -> run.number);

    private final List<Lane> lanes;
    private final boolean[] ended;
    private final PriorityQueue<PendingBatch> runs = new PriorityQueue<>(BY_TIME);
    private long made;
    private long held;
    private long latest;

    /** Where rows go. */
    @FunctionalInterface
    public interface MergedRowSink {
        /**
         * Takes a row.
         *
         * @param isLate whether a newer one was handed out before
         */
        void accept(Batch batch, int row, boolean isLate) throws IOException;
    }

    /** What is left of a batch; sorted, but not by what other batches of its lane hold. */
    private static final class PendingBatch {
        final Batch batch;
        final long number;
        int row;

        PendingBatch(Batch batch, long number) {
            this.batch = batch.retain();
            this.number = number;
        }

        long time() {
            return batch.time(row);
        }

        boolean isRead() {
            return row == batch.size();
        }
    }

    /**
     * A merge of lanes at their start, which are closed with it.
     *
     * @param lanes whose clocks are one; of equal times the earlier lane's row goes first
     */
    public LiveMerge(List<Lane> lanes) {
        this.lanes = List.copyOf(lanes);
        this.ended = new boolean[lanes.size()];
    }

    /**
     * Takes what the lanes have and hands out the rows whose time has come.
     *
     * @param until the newest time, unsigned; -1 for every row
     * @return whether rows are left or will come
     */
    public boolean advance(long until, MergedRowSink sink) throws IOException {
        long limit = take(until);
        PendingBatch run = runs.peek();
        while (run != null && isWithin(run.time(), limit)) {
            runs.remove();
            hand(run, limit, sink);
            if (run.isRead()) {
                run.batch.release();
            } else {
                runs.add(run);
            }
            run = runs.peek();
        }
        return !runs.isEmpty() || grows();
    }

    /** Rows of one run as long as no other's comes first; at least one. */
    private void hand(PendingBatch run, long limit, MergedRowSink sink) throws IOException {
        PendingBatch next = runs.peek();
        do {
            long time = run.time();
            boolean isOlder = Long.compareUnsigned(time, latest) < 0;
            latest = isOlder ? latest : time;
            held--;
            // Made-up records that tell of the time before the recording have the time 0.
            sink.accept(run.batch, run.row++, isOlder && time != 0);
        } while (!run.isRead()
                && isWithin(run.time(), limit)
                && (next == null || BY_TIME.compare(run, next) < 0));
    }

    /** Asks the lanes; until when their rows are complete, at most as given. */
    private long take(long until) throws IOException {
        long complete = until;
        for (int i = 0; i < ended.length; i++) {
            int left = held < MOST_ROWS ? MOST_BATCHES : 1;
            boolean more = !ended[i];
            long newest = latest;
            while (more && left-- > 0) {
                Batch batch = lanes.get(i).next();
                ended[i] = batch == null;
                more = batch != null && batch.size() > 0;
                if (batch != null && more) {
                    newest = batch.time(0);
                    held += batch.size();
                    runs.add(new PendingBatch(batch, made++));
                }
            }
            if (more && isWithin(newest, complete)) {
                complete = newest; // the lane has more, which may be but little newer
            }
        }
        return complete;
    }

    private boolean grows() {
        for (boolean end : ended) {
            if (!end) {
                return true;
            }
        }
        return false;
    }

    private static boolean isWithin(long time, long until) {
        return Long.compareUnsigned(time, until) <= 0;
    }

    @Override
    public void close() {
        runs.forEach(run -> run.batch.release());
        runs.clear();
        lanes.forEach(Lane::close);
    }
}
