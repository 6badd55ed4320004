package sonde.lang.bpftrace.run;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Deque;
import sonde.bpf.ring.ByteRecords;
import sonde.bpf.ring.RingBuffer;

/**
 * Events of two rings in the order in which the script sent them: those that may be lost, and those
 * for control, which may not. A record for control says how many bytes the other ring held when it
 * was written; it is handed over when those have been.
 */
final class ScriptEvents implements AutoCloseable {
    private static final int HEADER = 16;

    /** While a ring is filled faster than it is read, others want their turn too. */
    private static final int ROUNDS = 64;

    private record WaitingEvent(long position, byte[] bytes) {}

    private final RingBuffer ring;
    private final RingBuffer control;
    private final ByteRecords.Consumer consumer;
    private final ByteRecords records;
    private final ByteRecords controls = new ByteRecords(this::remember);
    private final Deque<WaitingEvent> waiting = new ArrayDeque<>();

    /**
     * The control ring is closed with this, the other one is not.
     *
     * @param consumer takes 8 bytes number of an action and its arguments
     */
    ScriptEvents(RingBuffer ring, RingBuffer control, ByteRecords.Consumer consumer) {
        this.ring = ring;
        this.control = control;
        this.consumer = consumer;
        this.records = new ByteRecords(consumer);
    }

    private void remember(byte[] bytes, int length) {
        if (length >= HEADER) {
            long position = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong(8);
            byte[] event = new byte[length - 8];
            System.arraycopy(bytes, 0, event, 0, 8);
            System.arraycopy(bytes, HEADER, event, 8, length - HEADER);
            waiting.add(new WaitingEvent(position, event));
        }
    }

    /** Hands over what is complete. */
    void drain() throws IOException {
        for (int round = 0; round < ROUNDS && turn(); round++) {
            // What came meanwhile is read in the next round.
        }
    }

    /** False when nothing was there, or what is next is still being written. */
    private boolean turn() throws IOException {
        // In this order: what a CPU sent for control before an event below the end is seen.
        long end = ring.reservedBytes();
        long count = control.drain(controls);
        WaitingEvent next = waiting.peek();
        while (next != null && next.position() <= end) {
            count += ring.drainTo(records, next.position());
            if (ring.readBytes() < next.position()) {
                return false;
            }
            waiting.remove();
            consumer.record(next.bytes(), next.bytes().length);
            next = waiting.peek();
        }
        return ring.drainTo(records, end) + count > 0;
    }

    @Override
    public void close() {
        control.close();
    }
}
