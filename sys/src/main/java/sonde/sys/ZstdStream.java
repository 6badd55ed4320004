package sonde.sys;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/**
 * Decompresses a zstd stream piece by piece with libzstd's ZSTD_decompressStream (zstd.h, 1.3 and
 * later). A frame may go on from one piece to the next. For one thread.
 */
public final class ZstdStream implements AutoCloseable {
    // ZSTD_inBuffer and ZSTD_outBuffer: { void* ptr; size_t size; size_t pos; }
    private static final int BUFFER_BYTES = 24;

    private final Arena arena = Arena.ofShared();
    private final Zstd zstd;
    private final MemorySegment decompress;
    private final MemorySegment free;
    private final long stream;
    private final MemorySegment in = arena.allocate(BUFFER_BYTES, 8);
    private final MemorySegment out = arena.allocate(BUFFER_BYTES, 8);

    ZstdStream(Zstd zstd, NativeLibrary library) throws IOException {
        this.zstd = zstd;
        decompress = library.function("ZSTD_decompressStream");
        free = library.function("ZSTD_freeDStream");
        stream = Zstd.call(library.function("ZSTD_createDStream"), 0, 0, 0);
        if (stream == 0) {
            throw new IOException("libzstd: no memory for a stream");
        }
    }

    /**
     * What one call did.
     *
     * @param consumed bytes taken from the source
     * @param produced bytes written to the target
     * @param ended whether a frame ended here and was written whole
     */
    public record ZstdStep(long consumed, long produced, boolean ended) {}

    /**
     * Goes on decompressing until the source is used up or the target is full.
     *
     * @param source native memory
     * @param target native memory
     * @throws IOException when the source is no zstd stream
     */
    public ZstdStep decompress(MemorySegment source, MemorySegment target) throws IOException {
        in.set(ADDRESS, 0, source);
        in.set(JAVA_LONG, 8, source.byteSize());
        in.set(JAVA_LONG, 16, 0);
        out.set(ADDRESS, 0, target);
        out.set(JAVA_LONG, 8, target.byteSize());
        out.set(JAVA_LONG, 16, 0);
        long result = zstd.check(Zstd.call(decompress, stream, out.address(), in.address()));
        Reference.reachabilityFence(source);
        Reference.reachabilityFence(target);
        return new ZstdStep(in.get(JAVA_LONG, 16), out.get(JAVA_LONG, 16), result == 0);
    }

    @Override
    public void close() {
        Zstd.call(free, stream, 0, 0);
        arena.close();
    }
}
