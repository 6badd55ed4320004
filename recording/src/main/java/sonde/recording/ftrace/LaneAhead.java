package sonde.recording.ftrace;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.Lane;
import sonde.event.ReadRows;

/**
 * A lane that is decoded before its rows are asked for, by a thread that several may share. What it
 * hands out is retained until the next call.
 */
final class LaneAhead {
    // Batches that are decoded, beside the one in use.
    private static final int DEPTH = 2;

    private final Lane lane;
    private final RowText text;
    private final @Nullable ExecutorService decoder;
    private final Deque<Future<AheadItem>> ready = new ArrayDeque<>();
    private AheadItem current = AheadItem.NONE;
    private boolean ended; // the decoder's

    /**
     * What the lane gave.
     *
     * @param free whether any thread may write any of its rows, which are sorted
     */
    private record AheadItem(@Nullable Batch batch, boolean free) {
        static final AheadItem NONE = new AheadItem(null, false);
    }

    /**
     * A lane at its start.
     *
     * @param decoder one thread, which alone reads the lane; null to read it when asked
     */
    LaneAhead(Lane lane, RowText text, @Nullable ExecutorService decoder) {
        this.lane = lane;
        this.text = text;
        this.decoder = decoder;
        if (decoder != null) {
            ready.add(decoder.submit(this::decode)); // one of each lane before a second of any
        }
    }

    private AheadItem decode() throws IOException {
        if (ended) {
            return AheadItem.NONE;
        }
        ended = true; // also when it fails
        AheadItem item = read();
        ended = item.batch == null;
        return item;
    }

    private AheadItem read() throws IOException {
        Batch batch = lane.next();
        if (batch == null) {
            return AheadItem.NONE;
        }
        ReadRows.add(batch);
        return new AheadItem(batch.retain(), isSorted(batch) && text.isFree(batch));
    }

    private static boolean isSorted(Batch batch) {
        long before = 0;
        for (int row = 0; row < batch.size(); row++) {
            long time = batch.time(row);
            if (Long.compareUnsigned(time, before) < 0) {
                return false;
            }
            before = time;
        }
        return true;
    }

    /** The next batch, null at the end; ends the validity of the one before. */
    @Nullable Batch next() throws IOException {
        if (current.batch != null) {
            current.batch.release();
            current = AheadItem.NONE;
        }
        if (decoder == null) {
            current = decode();
        } else {
            current = await(ready.remove());
            while (ready.size() < DEPTH) {
                ready.add(decoder.submit(this::decode));
            }
        }
        return current.batch;
    }

    /** Whether any thread may write any row of the batch in use. */
    boolean isFree() {
        return current.free;
    }

    private static AheadItem await(Future<AheadItem> decoding) throws IOException {
        try {
            return decoding.get();
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case IOException failure -> throw failure;
                case InternalError fault -> throw fault; // a mapped file has shrunk
                case null, default -> throw new IllegalStateException("decoding", e.getCause());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while decoding", e);
        }
    }
}
