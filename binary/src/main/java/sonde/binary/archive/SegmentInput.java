package sonde.binary.archive;

import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A stream over mapped bytes; knows how far it has been read. */
final class SegmentInput extends InputStream {
    private final MemorySegment bytes;
    private long position;

    SegmentInput(MemorySegment bytes) {
        this.bytes = bytes;
    }

    /** Bytes that were read. */
    long position() {
        return position;
    }

    @Override
    public int read() {
        return position < bytes.byteSize()
                ? bytes.get(ValueLayout.JAVA_BYTE, position++) & 0xff
                : -1;
    }

    @Override
    public int read(byte[] target, int offset, int length) {
        if (length == 0) {
            return 0;
        }
        int count = (int) Math.min(length, bytes.byteSize() - position);
        if (count == 0) {
            return -1;
        }
        MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, position, target, offset, count);
        position += count;
        return count;
    }

    @Override
    public int available() {
        return (int) Math.min(Integer.MAX_VALUE, bytes.byteSize() - position);
    }
}
