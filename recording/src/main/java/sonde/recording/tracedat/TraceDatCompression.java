package sonde.recording.tracedat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;
import sonde.binary.FieldCursor;
import sonde.binary.ZstdLibrary;
import sonde.recording.GrowableBytes;
import sonde.sys.Zstd;

/**
 * The compressors a trace.dat v7 may name. Every block states its size before and after: {u32
 * compressed, u32 uncompressed, bytes}.
 */
enum TraceDatCompression {
    NONE,
    ZSTD,
    ZLIB;

    // trace-cmd's chunks of events are 4 MiB; kallsyms are the longest metadata, some 20 MiB.
    static final int MOST_BYTES = 256 << 20;

    /** The compressor of that name, null when we do not know it. */
    static @Nullable TraceDatCompression named(String name) {
        return switch (name) {
            case "none", "" -> NONE;
            case "zstd" -> ZSTD;
            case "zlib" -> ZLIB;
            default -> null;
        };
    }

    /** Reads a block and undoes its compression. */
    MemorySegment readBlock(String field, FieldCursor cursor) throws IOException {
        long compressedBytes = cursor.u32(field + ": compressed size");
        int sizeBytes = cursor.bounded(field + ": size", cursor.u32(field + ": size"), MOST_BYTES);
        MemorySegment compressed = cursor.slice(field, compressedBytes);
        // A ratio beyond deflate's and zstd's own best is a bomb, not a recording.
        if (sizeBytes > 4096 + compressedBytes * 100_000L) {
            throw cursor.malformed(field, compressedBytes + " bytes claim to be " + sizeBytes);
        }
        MemorySegment plain = Arena.ofAuto().allocate(Math.max(sizeBytes, 1), 8);
        int done =
                switch (this) {
                    case NONE -> throw cursor.malformed(field, "compressed without compressor");
                    case ZSTD -> unzstd(field, cursor, compressed, plain);
                    case ZLIB -> inflate(field, cursor, compressed, plain);
                };
        if (done != sizeBytes) {
            throw cursor.malformed(field, done + " bytes instead of " + sizeBytes);
        }
        return plain.asSlice(0, sizeBytes);
    }

    /** As {@link #readBlock}, copied to the heap. */
    byte[] readBytes(String field, FieldCursor cursor) throws IOException {
        return readBlock(field, cursor).toArray(ValueLayout.JAVA_BYTE);
    }

    private static int unzstd(
            String field, FieldCursor cursor, MemorySegment compressed, MemorySegment plain)
            throws IOException {
        Zstd zstd = ZstdLibrary.get();
        try (Arena arena = Arena.ofConfined()) {
            // A copy: a mapped file that shrinks may not be met by the library.
            MemorySegment copy = arena.allocate(compressed.byteSize(), 8).copyFrom(compressed);
            return Math.toIntExact(zstd.decompress(copy, plain));
        } catch (IOException e) {
            throw cursor.malformed(field, String.valueOf(e.getMessage()));
        }
    }

    private static int inflate(
            String field, FieldCursor cursor, MemorySegment compressed, MemorySegment plain)
            throws IOException {
        Inflater inflater = new Inflater();
        try {
            inflater.setInput(compressed.asByteBuffer());
            return inflater.inflate(plain.asByteBuffer());
        } catch (DataFormatException e) {
            throw cursor.malformed(field, "zlib: " + e.getMessage());
        } finally {
            inflater.end();
        }
    }

    /** A block of zstd as it stands in the file: the two sizes, then the bytes. */
    static byte[] zstdBlock(byte[] plain, ByteOrder order) throws IOException {
        Zstd zstd = ZstdLibrary.get();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment source = arena.allocate(Math.max(plain.length, 1));
            MemorySegment.copy(plain, 0, source, ValueLayout.JAVA_BYTE, 0, plain.length);
            MemorySegment target = arena.allocate(zstd.compressBound(plain.length));
            int length = Math.toIntExact(zstd.compress(source.asSlice(0, plain.length), target));
            byte[] bytes = target.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
            return new GrowableBytes(length + 8, order)
                    .u32(length)
                    .u32(plain.length)
                    .raw(bytes, 0, length)
                    .toBytes();
        }
    }
}
