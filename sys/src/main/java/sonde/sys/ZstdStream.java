package sonde.sys;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/**
 * Decompresses a zstd stream piece by piece with libzstd's ZSTD_decompressStream (zstd.h, 1.3 and
 * later). A frame may go on from one piece to the next, which libraries that take whole frames
 * cannot do. For one thread.
 */
public final class ZstdStream implements AutoCloseable {
    // ZSTD_inBuffer and ZSTD_outBuffer: { void* ptr; size_t size; size_t pos; }
    private static final int BUFFER_BYTES = 24;

    private final Arena arena = Arena.ofShared();
    private final MethodHandle decompress;
    private final MethodHandle free;
    private final MethodHandle isError;
    private final MemorySegment stream;
    private final MemorySegment in = arena.allocate(BUFFER_BYTES, 8);
    private final MemorySegment out = arena.allocate(BUFFER_BYTES, 8);

    private ZstdStream(SymbolLookup library) throws IOException {
        Linker linker = Linker.nativeLinker();
        MethodHandle create =
                linker.downcallHandle(
                        library.findOrThrow("ZSTD_createDStream"), FunctionDescriptor.of(ADDRESS));
        free =
                linker.downcallHandle(
                        library.findOrThrow("ZSTD_freeDStream"),
                        FunctionDescriptor.of(JAVA_LONG, ADDRESS));
        isError =
                linker.downcallHandle(
                        library.findOrThrow("ZSTD_isError"),
                        FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
        decompress =
                linker.downcallHandle(
                        library.findOrThrow("ZSTD_decompressStream"),
                        FunctionDescriptor.of(JAVA_LONG, ADDRESS, ADDRESS, ADDRESS));
        try {
            stream = (MemorySegment) create.invokeExact();
        } catch (Throwable e) {
            throw new AssertionError("ZSTD_createDStream", e);
        }
        if (stream.address() == 0) {
            throw new IOException("libzstd: no memory for a stream");
        }
    }

    /**
     * A stream by the system's libzstd.so.1.
     *
     * @throws IOException when this system has none
     */
    public static ZstdStream open() throws IOException {
        try {
            return new ZstdStream(SymbolLookup.libraryLookup("libzstd.so.1", Arena.global()));
        } catch (IllegalArgumentException e) {
            throw new IOException("no libzstd.so.1 on this system", e);
        }
    }

    /**
     * A stream by the library in that file.
     *
     * @throws IOException when it is no library for this machine
     */
    public static ZstdStream open(Path library) throws IOException {
        try {
            return new ZstdStream(SymbolLookup.libraryLookup(library, Arena.global()));
        } catch (IllegalArgumentException e) {
            throw new IOException(library + ": not loadable", e);
        }
    }

    /**
     * What one call did.
     *
     * @param consumed bytes taken from the source
     * @param produced bytes written to the target
     * @param ended whether a frame ended here and was written whole
     */
    public record Step(long consumed, long produced, boolean ended) {}

    /**
     * Goes on decompressing until the source is used up or the target is full.
     *
     * @param source native memory
     * @param target native memory
     * @throws IOException when the source is no zstd stream
     */
    public Step decompress(MemorySegment source, MemorySegment target) throws IOException {
        in.set(ADDRESS, 0, source);
        in.set(JAVA_LONG, 8, source.byteSize());
        in.set(JAVA_LONG, 16, 0);
        out.set(ADDRESS, 0, target);
        out.set(JAVA_LONG, 8, target.byteSize());
        out.set(JAVA_LONG, 16, 0);
        boolean ended;
        try {
            long result = (long) decompress.invokeExact(stream, out, in);
            if ((int) isError.invokeExact(result) != 0) {
                throw new IOException("zstd error " + -result);
            }
            ended = result == 0;
        } catch (IOException e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("ZSTD_decompressStream", e);
        }
        return new Step(in.get(JAVA_LONG, 16), out.get(JAVA_LONG, 16), ended);
    }

    @Override
    public void close() {
        try {
            long ignored = (long) free.invokeExact(stream);
            assert ignored == 0;
        } catch (Throwable e) {
            throw new AssertionError("ZSTD_freeDStream", e);
        }
        arena.close();
    }
}
