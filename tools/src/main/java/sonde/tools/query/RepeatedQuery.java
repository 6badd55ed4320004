package sonde.tools.query;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import sonde.event.result.LiveResult;
import sonde.event.result.Result;
import sonde.symbol.files.GivenPlaces;

/**
 * The rows of a statement at an interval, each time of what the recordings are then: of the running
 * system, which is read anew.
 */
public final class RepeatedQuery implements LiveResult.ResultTicks, AutoCloseable {
    private final List<Path> recordings;
    private final GivenPlaces given;
    private final String sql;
    private final long intervalNanos;
    private final CountDownLatch ended = new CountDownLatch(1);
    private @Nullable QueryRecipe open;
    private long due = System.nanoTime();
    private long left;

    /**
     * Asks nothing yet.
     *
     * @param count how often at most
     */
    public RepeatedQuery(
            List<Path> recordings, GivenPlaces given, String sql, long intervalNanos, long count) {
        this.recordings = List.copyOf(recordings);
        this.given = given;
        this.sql = sql;
        this.intervalNanos = intervalNanos;
        this.left = count;
    }

    /** Waits for the next turn; a turn that took too long puts off those behind it. */
    @Override
    public @Nullable Result next() throws IOException {
        close();
        try {
            long now = System.nanoTime();
            due = Math.max(due, now);
            if (left-- <= 0 || ended.await(due - now, TimeUnit.NANOSECONDS)) {
                return null;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("query");
        }
        due += intervalNanos;
        QueryRecipe recipe = QueryRecipe.open(recordings, given, null, false);
        open = recipe;
        return recipe.rows(sql);
    }

    /** Ends it after the rows that are being read; by any thread. */
    public void end() {
        ended.countDown();
    }

    /** Closes what the last rows came from. */
    @Override
    public void close() {
        if (open != null) {
            open.close();
            open = null;
        }
    }
}
