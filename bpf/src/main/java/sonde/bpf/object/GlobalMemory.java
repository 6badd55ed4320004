package sonde.bpf.object;

import java.lang.foreign.MemorySegment;
import sonde.bpf.map.MappedValues;
import sonde.bpf.object.GlobalSection.GlobalVariable;

/**
 * The variables of a section in memory that the programs share: what one writes the other reads, at
 * once and without system calls.
 */
public final class GlobalMemory implements AutoCloseable {
    private final GlobalSection about;
    private final MappedValues values;

    GlobalMemory(GlobalSection about, MappedValues values) {
        this.about = about;
        this.values = values;
    }

    /** All of it; read only for constants. */
    public MemorySegment segment() {
        return values.segment().asSlice(0, about.sizeBytes());
    }

    /**
     * A variable where it lies.
     *
     * @throws IllegalArgumentException when the section has none of that name
     */
    public MemorySegment segment(String variable) {
        GlobalVariable one =
                about.variable(variable)
                        .orElseThrow(() ->
                                new IllegalArgumentException(
                                        about.section() + " has no variable " + variable));
        return values.segment().asSlice(one.offset(), one.sizeBytes());
    }

    /** A number of 1, 2, 4 or 8 bytes, sign-extended. */
    public long number(String variable) {
        MemorySegment at = segment(variable);
        return switch ((int) at.byteSize()) {
            case 1 -> at.get(java.lang.foreign.ValueLayout.JAVA_BYTE, 0);
            case 2 -> at.get(java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED, 0);
            case 4 -> at.get(java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED, 0);
            case 8 -> at.get(java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED, 0);
            default ->
                    throw new IllegalArgumentException(
                            variable + " has " + at.byteSize() + " bytes");
        };
    }

    /** Sets a number of 1, 2, 4 or 8 bytes. */
    public void number(String variable, long value) {
        MemorySegment at = segment(variable);
        switch ((int) at.byteSize()) {
            case 1 -> at.set(java.lang.foreign.ValueLayout.JAVA_BYTE, 0, (byte) value);
            case 2 -> at.set(java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED, 0, (short) value);
            case 4 -> at.set(java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED, 0, (int) value);
            case 8 -> at.set(java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED, 0, value);
            default ->
                    throw new IllegalArgumentException(
                            variable + " has " + at.byteSize() + " bytes");
        }
    }

    /** Takes the mapping back. */
    @Override
    public void close() {
        values.close();
    }
}
