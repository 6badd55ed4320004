package sonde.bpf.interpreter;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A piece of memory with bounds: a stack, a context, a packet, the value of a map's entry. */
public final class MemoryRegion {
    /** Memory that is made up when it is read: the fields of a context that the kernel rewrites. */
    @FunctionalInterface
    public interface ContextFields {
        /** The bytes at an offset as a number; null where a program may not read so. */
        @Nullable Long load(int offset, int bytes);
    }

    final String name;
    final byte[] data;
    final int start;
    final int length;
    final boolean writable;
    final @Nullable ContextFields fields;

    /** Set by the address space it is in. */
    @Nullable ProgramMemory space;

    long address;
    boolean dead;

    private MemoryRegion(
            String name,
            byte[] data,
            int start,
            int length,
            boolean writable,
            @Nullable ContextFields fields) {
        this.name = name;
        this.data = data;
        this.start = start;
        this.length = length;
        this.writable = writable;
        this.fields = fields;
    }

    /**
     * All of an array, which programs may write.
     *
     * @param name for messages: "stack"
     */
    public static MemoryRegion of(String name, byte[] data) {
        return new MemoryRegion(name, data, 0, data.length, true, null);
    }

    /** A part of an array. */
    public static MemoryRegion of(String name, byte[] data, int start, int length) {
        return new MemoryRegion(name, data, start, length, true, null);
    }

    /** An array that programs only read. */
    public static MemoryRegion readOnly(String name, byte[] data) {
        return new MemoryRegion(name, data, 0, data.length, false, null);
    }

    /** Bytes that are made up; what a program writes goes to {@code stored}, read back from it. */
    public static MemoryRegion virtual(String name, byte[] stored, ContextFields fields) {
        return new MemoryRegion(name, stored, 0, stored.length, true, fields);
    }

    /** A copy of its bytes. */
    public byte[] bytes() {
        return Arrays.copyOfRange(data, start, start + length);
    }

    /** Writes its first bytes; as many as there are in both. */
    void put(byte[] bytes) {
        System.arraycopy(bytes, 0, data, start, Math.min(length, bytes.length));
    }

    /** No longer reachable through its map; programs that run see it until they end. */
    void release() {
        dead = true;
    }
}
