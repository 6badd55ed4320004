package sonde.binary.elf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The bytes of a section, for those who have no memory segments. */
public final class SectionBytes {
    private final MemorySegment bytes;

    SectionBytes(MemorySegment bytes) {
        this.bytes = bytes;
    }

    /** How many. */
    public long sizeBytes() {
        return bytes.byteSize();
    }

    /** One of them. */
    public byte at(long offset) {
        return bytes.get(ValueLayout.JAVA_BYTE, offset);
    }

    /** A copy of all of them. */
    public byte[] toArray() {
        return bytes.toArray(ValueLayout.JAVA_BYTE);
    }
}
