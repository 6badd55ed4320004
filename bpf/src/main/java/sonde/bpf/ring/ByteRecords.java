package sonde.bpf.ring;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;

/** Hands records to somebody as bytes of one buffer, used again for each. */
public final class ByteRecords implements RecordVisitor {
    /** Takes a record. */
    @FunctionalInterface
    public interface Consumer {
        /**
         * A record; the bytes are valid during the call only.
         *
         * @param length of it; what is behind belongs to others
         */
        void record(byte[] bytes, int length);
    }

    private final Consumer consumer;
    private byte[] buffer = new byte[4096];

    /** For a consumer. */
    public ByteRecords(Consumer consumer) {
        this.consumer = consumer;
    }

    @Override
    public void record(MemorySegment memory, long offset, int bytes) {
        if (bytes > buffer.length) {
            buffer = new byte[Integer.highestOneBit(bytes) * 2];
        }
        MemorySegment.copy(memory, JAVA_BYTE, offset, buffer, 0, bytes);
        consumer.record(buffer, bytes);
    }
}
