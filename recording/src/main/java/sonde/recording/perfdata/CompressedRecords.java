package sonde.recording.perfdata;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import sonde.binary.ZstdLibrary;
import sonde.sys.ZstdStream;
import sonde.sys.ZstdStream.ZstdStep;

/**
 * The records out of PERF_RECORD_COMPRESSED: one zstd stream cut into pieces anywhere, so a record
 * may begin in one piece and end in the next. They are gathered in a window that moves up as its
 * start is no longer needed.
 */
final class CompressedRecords implements AutoCloseable {
    /** Most that may wait in the window; a stream that grows beyond it is broken or hostile. */
    private static final long MOST_BYTES = 1L << 30;

    private static final int STEP_BYTES = 1 << 17;

    private final boolean swapped;
    private final ZstdStream stream;
    private PerfView view;
    private long filled;

    /** Where the next record is looked for. */
    long next;

    /**
     * @throws IOException when there is no zstd library here
     */
    CompressedRecords(boolean swapped) throws IOException {
        this.swapped = swapped;
        this.stream = ZstdLibrary.get().stream();
        this.view = new PerfView(Arena.ofAuto().allocate(1 << 20, 8), swapped);
    }

    /** The window. */
    PerfView view() {
        return view;
    }

    /** Where what was decompressed so far ends. */
    long filled() {
        return filled;
    }

    /**
     * Decompresses a piece behind what is there.
     *
     * @throws IOException when the stream is broken
     */
    void append(MemorySegment piece) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            // A copy: a mapped file that shrinks may not be met by the library.
            decompress(arena.allocate(piece.byteSize(), 8).copyFrom(piece));
        }
    }

    private void decompress(MemorySegment source) throws IOException {
        long consumed = 0;
        boolean full = false;
        while (consumed < source.byteSize() || full) {
            reserve();
            MemorySegment target = view.segment.asSlice(filled);
            ZstdStep step = stream.decompress(source.asSlice(consumed), target);
            consumed += step.consumed();
            filled += step.produced();
            full = step.produced() == target.byteSize();
            if (step.consumed() == 0 && step.produced() == 0) {
                break;
            }
        }
        if (consumed < source.byteSize()) {
            throw new IOException("zstd stream stands still");
        }
    }

    private void reserve() throws IOException {
        long room = view.segment.byteSize();
        if (!isNearlyFull()) {
            return;
        }
        if (room * 2 > MOST_BYTES) {
            throw new IOException("more than " + MOST_BYTES + " bytes of records at once");
        }
        MemorySegment larger = Arena.ofAuto().allocate(room * 2, 8);
        MemorySegment.copy(view.segment, 0, larger, 0, filled);
        view = new PerfView(larger, swapped);
    }

    /** Whether the next piece will need a larger window. */
    boolean isNearlyFull() {
        return view.segment.byteSize() - filled < STEP_BYTES;
    }

    /** Forgets what lies before {@code keep}. */
    void moveDown(long keep) {
        MemorySegment.copy(view.segment, keep, view.segment, 0, filled - keep);
        filled -= keep;
        next -= keep;
    }

    @Override
    public void close() {
        stream.close();
    }
}
