package sonde.binary.archive;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A stream of what is decompressed block by block. */
abstract class BlockInput extends InputStream {
    MemorySegment block = MemorySegment.NULL;
    int taken;
    int filled;

    /**
     * Puts the next bytes into the block, from {@code taken} to {@code filled}; false at the end.
     */
    abstract boolean fill() throws IOException;

    @Override
    public final int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public final int read(byte[] target, int offset, int length) throws IOException {
        while (length > 0 && taken == filled) {
            if (!fill()) {
                return -1;
            }
        }
        int count = Math.min(length, filled - taken);
        MemorySegment.copy(block, ValueLayout.JAVA_BYTE, taken, target, offset, count);
        taken += count;
        return count;
    }
}
