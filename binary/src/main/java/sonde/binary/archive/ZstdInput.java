package sonde.binary.archive;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import sonde.binary.MalformedInputException;
import sonde.binary.ZstdLibrary;
import sonde.sys.ZstdStream;
import sonde.sys.ZstdStream.ZstdStep;

/** Decompresses zstd frames, one behind the other (RFC 8878 §3.1). */
final class ZstdInput extends BlockInput {
    private static final int STEP_BYTES = 1 << 20;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment from;
    // A copy: a mapped file that shrinks may not be met by the library, it would end the process.
    private final MemorySegment piece = arena.allocate(STEP_BYTES, 8);
    private final ZstdStream stream;
    private long consumed;
    private boolean whole;

    ZstdInput(MemorySegment from) throws IOException {
        this.from = from;
        block = arena.allocate(STEP_BYTES, 8);
        this.stream = ZstdLibrary.get().stream();
    }

    /** Bytes that were taken in. */
    long consumed() {
        return consumed;
    }

    @Override
    boolean fill() throws IOException {
        boolean wasFull = filled == STEP_BYTES;
        taken = 0;
        filled = 0;
        while (consumed < from.byteSize() || wasFull) {
            long count = Math.min(STEP_BYTES, from.byteSize() - consumed);
            MemorySegment.copy(from, consumed, piece, 0, count);
            ZstdStep step;
            try {
                step = stream.decompress(piece.asSlice(0, count), block);
            } catch (IOException e) {
                throw new MalformedInputException(
                        "zstd", "frame", consumed, String.valueOf(e.getMessage()));
            }
            consumed += step.consumed();
            whole = step.ended();
            filled = (int) step.produced();
            if (filled > 0) {
                return true;
            }
            if (step.consumed() == 0) {
                break;
            }
            wasFull = false;
        }
        if (!whole) {
            throw new EOFException();
        }
        return false;
    }

    @Override
    public void close() {
        stream.close();
        arena.close();
    }
}
