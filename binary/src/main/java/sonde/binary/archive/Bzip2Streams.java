package sonde.binary.archive;

import io.airlift.compress.v3.bzip2.BZip2HadoopStreams;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import sonde.binary.MalformedInputException;

/**
 * Decompresses bzip2 1.0, also several streams one behind the other as parallel compressors write
 * them. The library's decoder fails at the second: each gets its own bytes, up to where the next
 * ten bytes of a beginning stand.
 */
final class Bzip2Streams extends InputStream {
    private static final long BLOCK = 0x314159265359L;
    private static final long END = 0x177245385090L;
    private static final int HEAD_BYTES = 10;

    private final MemorySegment bytes;
    private long position;
    private InputStream stream;

    Bzip2Streams(MemorySegment bytes) throws IOException {
        this.bytes = bytes;
        if (!begins(0)) {
            throw new MalformedInputException("bzip2", "magic", 0, "not that of a stream");
        }
        stream = next();
    }

    private InputStream next() throws IOException {
        long from = position;
        position++;
        while (position < bytes.byteSize() && !begins(position)) {
            position++;
        }
        MemorySegment one = bytes.asSlice(from, position - from);
        return new BZip2HadoopStreams().createInputStream(new SegmentInput(one));
    }

    /** Whether a stream begins there: "BZh", its block size, and a block or the end. */
    private boolean begins(long at) {
        if (at < 0 || bytes.byteSize() - at < HEAD_BYTES) {
            return false;
        }
        long magic = 0;
        for (int i = 4; i < HEAD_BYTES; i++) {
            magic = magic << 8 | byteAt(at + i);
        }
        int level = byteAt(at + 3);
        return byteAt(at) == 'B'
                && byteAt(at + 1) == 'Z'
                && byteAt(at + 2) == 'h'
                && level >= '1'
                && level <= '9'
                && (magic == BLOCK || magic == END);
    }

    private int byteAt(long at) {
        return bytes.get(ValueLayout.JAVA_BYTE, at) & 0xff;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        int count = stream.read(target, offset, length);
        while (count < 0 && position < bytes.byteSize()) {
            stream = next();
            count = stream.read(target, offset, length);
        }
        return count;
    }
}
