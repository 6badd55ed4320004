package sonde.probe.syscall;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import sonde.bpf.ring.RingBuffer;
import sonde.probe.syscall.CallStream.CallChunk;
import sonde.recording.syscall.CallRecord;
import sonde.sys.Clocks;

/** Copies records out of a ring on a thread of its own, nothing else: nobody waits for decoders. */
final class CallRing implements AutoCloseable {
    /** A record that its thread waits behind; it is not part of the stream. */
    static final int STOPPED = 100;

    private static final int CHUNK_BYTES = 1 << 20;
    private static final long LOOK_NANOS = 5_000_000;

    /** Takes records of {@link #STOPPED}. */
    @FunctionalInterface
    interface StopTaker {
        /** The process waits for SIGCONT. */
        void stopped(int pid);
    }

    private final RingBuffer ring;
    private final CallStream stream;
    private final StopTaker stops;
    private final Thread reader;
    private volatile boolean stopping;
    private byte[] chunk = new byte[CHUNK_BYTES];
    private int used;

    CallRing(RingBuffer ring, StopTaker stops) {
        this.ring = ring;
        this.stops = stops;
        stream = new CallStream(Runtime.getRuntime().maxMemory() / 2);
        reader = Thread.ofPlatform().daemon().name("calls").unstarted(this::read);
    }

    void start() {
        reader.start();
    }

    CallStream stream() {
        return stream;
    }

    /** Reads what is left; afterwards the stream ends. */
    void finish() {
        stopping = true;
    }

    private void read() {
        IOException failure = null;
        try {
            boolean last = false;
            while (!last) {
                last = stopping;
                long now = Clocks.nanos(Clocks.CLOCK_MONOTONIC);
                long count = ring.drain(this::copy);
                flush(now);
                if (count == 0 && !last) {
                    stream.nothingUntil(now);
                    ring.await(LOOK_NANOS);
                }
            }
        } catch (IOException e) {
            failure = e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        stream.end(failure);
    }

    private void copy(MemorySegment memory, long offset, int bytes) {
        if (memory.get(JAVA_BYTE, offset + CallRecord.KIND) == STOPPED) {
            stops.stopped(memory.get(JAVA_INT_UNALIGNED, offset + CallRecord.PID));
            return;
        }
        if (bytes > chunk.length - used) {
            // What is in it may still be out of order with what comes.
            putChunk(0);
        }
        MemorySegment.copy(memory, JAVA_BYTE, offset, chunk, used, bytes);
        used += bytes;
    }

    private void flush(long nanos) throws InterruptedException {
        if (used > 0) {
            putChunk(nanos);
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }

    private void putChunk(long nanos) {
        try {
            boolean full = used > CHUNK_BYTES / 2;
            byte[] bytes = full ? chunk : Arrays.copyOf(chunk, used);
            stream.put(new CallChunk(bytes, used, nanos));
            chunk = full ? new byte[CHUNK_BYTES] : chunk;
            used = 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends the thread; the ring is that of its maker. */
    @Override
    public void close() {
        stopping = true;
        stream.end(null);
        reader.interrupt();
        try {
            reader.join(1000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
