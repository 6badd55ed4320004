package sonde.sys;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/**
 * libzstd (zstd.h, 1.3 and later), mapped until the process ends: whole frames, and {@link
 * ZstdStream streams}. All segments are native memory. May be used by several threads.
 */
public final class Zstd {
    private static final int LEVEL = 3; // ZSTD_CLEVEL_DEFAULT
    private static final int NAME_BYTES = 200;

    private final MemorySegment decompress;
    private final MemorySegment compress;
    private final MemorySegment bound;
    private final MemorySegment isError;
    private final MemorySegment errorName;
    private final NativeLibrary library;

    /** The functions of a library that was mapped. */
    public Zstd(NativeLibrary library) {
        this.library = library;
        this.decompress = library.function("ZSTD_decompress");
        this.compress = library.function("ZSTD_compress");
        this.bound = library.function("ZSTD_compressBound");
        this.isError = library.function("ZSTD_isError");
        this.errorName = library.function("ZSTD_getErrorName");
    }

    /**
     * Decompresses whole frames; returns how many bytes they were.
     *
     * @throws IOException when the source is no zstd, is cut, or does not fit the target
     */
    public long decompress(MemorySegment source, MemorySegment target) throws IOException {
        return whole(decompress, source, target);
    }

    /** Compresses into one frame; returns its length. */
    public long compress(MemorySegment source, MemorySegment target) throws IOException {
        return whole(compress, source, target);
    }

    /** The longest that so many bytes can become. */
    public long compressBound(long sourceBytes) {
        return call(bound, sourceBytes, 0, 0);
    }

    /** A stream of its own state; the caller closes it. */
    public ZstdStream stream() throws IOException {
        return new ZstdStream(this, library);
    }

    private long whole(MemorySegment function, MemorySegment source, MemorySegment target)
            throws IOException {
        if (!source.isNative() || !target.isNative()) {
            throw new IllegalArgumentException("not native memory");
        }
        long result =
                NativeLibrary.call(
                        function,
                        target.address(),
                        target.byteSize(),
                        source.address(),
                        source.byteSize(),
                        LEVEL,
                        0);
        Reference.reachabilityFence(source);
        Reference.reachabilityFence(target);
        return check(result);
    }

    /** A result that is no error. */
    long check(long result) throws IOException {
        if ((int) call(isError, result, 0, 0) != 0) {
            String name = NativeLibrary.text(call(errorName, result, 0, 0), NAME_BYTES);
            throw new IOException("zstd: " + name);
        }
        return result;
    }

    static long call(MemorySegment function, long a0, long a1, long a2) {
        return NativeLibrary.call(function, a0, a1, a2, 0, 0, 0);
    }
}
