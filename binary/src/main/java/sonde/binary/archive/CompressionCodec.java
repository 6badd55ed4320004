package sonde.binary.archive;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.util.Locale;
import java.util.zip.GZIPInputStream;
import java.util.zip.Inflater;
import java.util.zip.InflaterInputStream;
import org.tukaani.xz.LZMAInputStream;
import org.tukaani.xz.SingleXZInputStream;
import sonde.binary.MalformedInputException;

/**
 * Ways to compress one run of bytes, as sections of ELF files and boot images of kernels use them.
 */
public enum CompressionCodec {
    /** RFC 1950. */
    ZLIB,
    /** RFC 1952; what follows the stream is not looked at. */
    GZIP,
    /** RFC 8878. */
    ZSTD,
    /** The .xz file format 1.2.1, one stream; what follows it is not looked at. */
    XZ,
    /** The older .lzma file. */
    LZMA,
    /** bzip2 1.0. */
    BZIP2,
    /** Blocks of 8 MiB with their lengths, magic 0x184c2102, as {@code lz4 -l} writes them. */
    LZ4_LEGACY;

    private static final int XZ_MEMORY_KIB = 1 << 18;
    private static final int BUFFER_BYTES = 1 << 16;

    /**
     * What comes out of these bytes. Reading throws {@link MalformedInputException} for damage of
     * any kind; the caller bounds how much it reads, and closes.
     */
    public InputStream stream(MemorySegment bytes) throws IOException {
        try {
            return new Guarded(name().toLowerCase(Locale.ROOT), open(bytes));
        } catch (IOException | RuntimeException e) {
            throw damage(name().toLowerCase(Locale.ROOT), e);
        }
    }

    private InputStream open(MemorySegment bytes) throws IOException {
        SegmentInput in = new SegmentInput(bytes);
        return switch (this) {
            case ZLIB -> new Zlib(in);
            case GZIP -> new GZIPInputStream(in, BUFFER_BYTES);
            case ZSTD -> new ZstdInput(bytes);
            case XZ -> new SingleXZInputStream(in, XZ_MEMORY_KIB);
            case LZMA -> new LZMAInputStream(in, XZ_MEMORY_KIB);
            case BZIP2 -> new Bzip2Streams(bytes);
            case LZ4_LEGACY -> new Lz4Legacy(bytes);
        };
    }

    /** The JDK frees an Inflater only with a stream that made it itself. */
    private static final class Zlib extends InflaterInputStream {
        Zlib(InputStream in) {
            super(in, new Inflater(), BUFFER_BYTES);
        }

        @Override
        public void close() throws IOException {
            inf.end();
            super.close();
        }
    }

    private static MalformedInputException damage(String format, Exception cause) {
        if (cause instanceof MalformedInputException known) {
            return known;
        }
        String why = cause.getMessage();
        return new MalformedInputException(format, "stream", -1, why == null ? "cut short" : why);
    }

    /** Turns whatever a decoder throws at damage into one exception. */
    private static final class Guarded extends FilterInputStream {
        private final String format;

        Guarded(String format, InputStream in) {
            super(in);
            this.format = format;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            try {
                return in.read(target, offset, length);
            } catch (IOException | RuntimeException e) {
                throw damage(format, e);
            }
        }
    }
}
