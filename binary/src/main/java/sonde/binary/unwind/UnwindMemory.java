package sonde.binary.unwind;

/** What is known of a process's memory while a stack is unwound: mostly a piece of its stack. */
public interface UnwindMemory {
    /** Whether that many bytes at an address are known. */
    boolean has(long address, int sizeBytes);

    /** The unsigned number of 1, 2, 4 or 8 bytes at an address that {@link #has} accepted. */
    long read(long address, int sizeBytes);

    /** As above, and the number is the value of a register in the caller. */
    default long read(long address, int sizeBytes, int column) {
        return read(address, sizeBytes);
    }
}
