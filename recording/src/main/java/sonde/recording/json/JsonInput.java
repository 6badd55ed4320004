package sonde.recording.json;

import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A segment's bytes as a stream. */
public final class JsonInput extends InputStream {
    private final MemorySegment segment;
    private long at;

    /** From its start. */
    public JsonInput(MemorySegment segment) {
        this.segment = segment;
    }

    @Override
    public int read() {
        return at < segment.byteSize() ? segment.get(ValueLayout.JAVA_BYTE, at++) & 0xff : -1;
    }

    @Override
    public int read(byte[] into, int offset, int length) {
        long left = segment.byteSize() - at;
        if (left == 0) {
            return length == 0 ? 0 : -1;
        }
        int count = (int) Math.min(left, length);
        MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, at, into, offset, count);
        at += count;
        return count;
    }
}
