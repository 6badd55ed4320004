package sonde.bpf.ring;

import java.lang.foreign.MemorySegment;

/** Takes records where they lie, without a copy and without an object for each. */
@FunctionalInterface
public interface RecordVisitor {
    /**
     * One record; valid during the call only.
     *
     * @param memory that holds it
     * @param offset of its first byte, a multiple of 8 (of 4 in perf buffers)
     * @param bytes of it
     */
    void record(MemorySegment memory, long offset, int bytes);
}
