package sonde.probe.syscall;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import sonde.recording.syscall.CallRecord;

/**
 * Records in the order of their times. The ring has them almost so: a program takes the time before
 * it reserves room, so on another CPU a later one may come first. What is younger than 2 ms before
 * the ring was looked at is held back until the next look.
 */
public final class CallStream {
    static final long HELD_NANOS = 2_000_000;
    private static final int FIRST_ROOM = 1 << 12;

    /**
     * Bytes copied out of the ring in one go.
     *
     * @param nanos time before the ring was looked at
     */
    record CallChunk(byte[] bytes, int used, long nanos) {}

    private final Deque<CallChunk> waiting = new ArrayDeque<>();
    private final long mostBytes;
    private long waitingBytes;
    private boolean ended;
    private @Nullable IOException failure;

    private byte[][] arrays = new byte[FIRST_ROOM][];
    private int[] offsets = new int[FIRST_ROOM];
    private long[] times = new long[FIRST_ROOM];
    private int first;
    private int end;
    private long horizon;
    private final CallRecord record = new CallRecord();

    /** Holds at most so many bytes that nobody has decoded yet. */
    CallStream(long mostBytes) {
        this.mostBytes = mostBytes;
    }

    /** Adds a chunk; waits while too many bytes wait, so that the ring fills and losses count. */
    synchronized void put(CallChunk chunk) throws InterruptedException {
        while (waitingBytes > mostBytes && !ended) {
            wait();
        }
        waiting.add(chunk);
        waitingBytes += chunk.bytes().length;
        notifyAll();
    }

    /** There will be no more. */
    synchronized void end(@Nullable IOException why) {
        ended = true;
        failure = failure == null ? why : failure;
        notifyAll();
    }

    /** Time that the ring was looked at without finding anything. */
    synchronized void nothingUntil(long nanos) {
        if (waiting.isEmpty()) {
            waiting.add(new CallChunk(new byte[0], 0, nanos));
            notifyAll();
        }
    }

    /**
     * The next record; valid until the next call.
     *
     * @return null when there is none at the moment, or at the end ({@link #isAtEnd})
     * @throws IOException when the ring could not be read
     */
    public @Nullable CallRecord next(long waitMillis) throws IOException, InterruptedException {
        while (true) {
            if (first < end && times[first] <= horizon) {
                record.at(arrays[first], offsets[first]);
                first++;
                return record;
            }
            CallChunk chunk = take(waitMillis);
            if (chunk == null) {
                return null;
            }
            add(chunk);
            boolean isReady = first < end && times[first] <= horizon;
            if (chunk.used() == 0 && !isReady) {
                return null; // the ring was looked at and had nothing
            }
        }
    }

    private synchronized @Nullable CallChunk take(long waitMillis)
            throws IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMillis);
        while (waiting.isEmpty() && !ended) {
            long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
            if (left <= 0) {
                break;
            }
            wait(left);
        }
        CallChunk chunk = waiting.poll();
        if (chunk == null && ended) {
            if (failure != null) {
                throw failure;
            }
            if (horizon != Long.MAX_VALUE) {
                return new CallChunk(new byte[0], 0, Long.MAX_VALUE);
            }
        }
        if (chunk != null) {
            waitingBytes -= chunk.bytes().length;
            notifyAll();
        }
        return chunk;
    }

    /** Whether all records were handed over. */
    public synchronized boolean isAtEnd() {
        return ended && waiting.isEmpty() && first == end && horizon == Long.MAX_VALUE;
    }

    private void add(CallChunk chunk) {
        compact();
        CallRecord one = new CallRecord();
        int at = 0;
        while (at + CallRecord.PIECES <= chunk.used()) {
            one.at(chunk.bytes(), at);
            insert(chunk.bytes(), at, one.nanos());
            at += Math.max(CallRecord.PIECES, one.length());
        }
        long held = chunk.nanos() == Long.MAX_VALUE ? 0 : HELD_NANOS;
        horizon = Math.max(horizon, chunk.nanos() - held);
    }

    private void insert(byte[] bytes, int offset, long nanos) {
        if (end == times.length) {
            int room = end * 2;
            arrays = Arrays.copyOf(arrays, room);
            offsets = Arrays.copyOf(offsets, room);
            times = Arrays.copyOf(times, room);
        }
        int to = end++;
        while (to > first && times[to - 1] > nanos) {
            times[to] = times[to - 1];
            arrays[to] = arrays[to - 1];
            offsets[to] = offsets[to - 1];
            to--;
        }
        times[to] = nanos;
        arrays[to] = bytes;
        offsets[to] = offset;
    }

    private void compact() {
        int left = end - first;
        System.arraycopy(times, first, times, 0, left);
        System.arraycopy(arrays, first, arrays, 0, left);
        System.arraycopy(offsets, first, offsets, 0, left);
        Arrays.fill(arrays, left, end, null);
        first = 0;
        end = left;
    }
}
