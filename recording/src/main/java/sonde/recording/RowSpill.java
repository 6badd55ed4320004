package sonde.recording;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import org.jspecify.annotations.Nullable;
import sonde.binary.UnnamedFile;

/**
 * Memory that the kernel may write to a disk when it needs the pages: a mapped file without a name,
 * in the folder for large temporary files.
 */
final class RowSpill implements AutoCloseable {
    private static final int STEP_BYTES = 1 << 20;
    private static final long PAGE_BYTES = 1 << 16;

    private final Arena arena;
    private @Nullable FileChannel file;
    private long sizeBytes;
    private boolean refused;

    /** What is taken lives as long as the arena. */
    RowSpill(Arena arena) {
        this.arena = arena;
    }

    /** So many bytes, zero; plain memory where no file can be had or the disk is full. */
    MemorySegment take(long bytes) {
        if (!refused) {
            try {
                return map(bytes);
            } catch (IOException e) {
                refused = true;
            }
        }
        return arena.allocate(bytes, 8);
    }

    private MemorySegment map(long bytes) throws IOException {
        FileChannel into = file;
        if (into == null) {
            into = UnnamedFile.open();
            file = into;
        }
        // Written, not only made longer: a page that finds the disk full kills the process.
        ByteBuffer zeros = ByteBuffer.allocate(STEP_BYTES);
        for (long done = 0; done < bytes; ) {
            zeros.limit((int) Math.min(STEP_BYTES, bytes - done)).position(0);
            done += into.write(zeros, sizeBytes + done);
        }
        MemorySegment memory = into.map(FileChannel.MapMode.READ_WRITE, sizeBytes, bytes, arena);
        sizeBytes += bytes + PAGE_BYTES - 1 & -PAGE_BYTES;
        return memory;
    }

    /** Mappings stay until the arena is closed. */
    @Override
    public void close() {
        FileChannel open = file;
        if (open == null) {
            return;
        }
        try {
            open.close();
        } catch (IOException e) {
            refused = true; // it has no name: the kernel frees it with the process
        }
    }
}
