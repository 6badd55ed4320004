package sonde.bpf.map;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import sonde.bpf.BpfMap;
import sonde.bpf.MapType;
import sonde.sys.MachineFacts;
import sonde.sys.MemoryMappings;
import sonde.sys.SyscallException;

/**
 * The values of an array in this process's memory, without system calls: arrays made with {@link
 * sonde.bpf.MapSpec#MAPPABLE} (Linux 5.5), and arenas. Programs write meanwhile; {@link #acquire}
 * and {@link #add} are atomic, plain access through {@link #segment()} is not.
 *
 * <p>An arena lies where its first mapping is, or at the address it was made with: programs see the
 * address of {@link #segment()} plus offset. A process maps it once. Pages that no program has
 * allocated are made when they are touched.
 */
public final class MappedValues implements AutoCloseable {
    private static final VarHandle WORD = JAVA_LONG.varHandle();

    private final Arena arena;
    private final MemorySegment values;
    private final int stride;

    private MappedValues(Arena arena, MemorySegment values, int stride) {
        this.arena = arena;
        this.values = values;
        this.stride = stride;
    }

    /**
     * Maps all values.
     *
     * @param writable false for maps that are frozen or read-only here
     * @throws SyscallException EINVAL when the map was not made for it, EPERM when it may not be
     *     written, EBUSY for an arena that is mapped already
     */
    public static MappedValues of(BpfMap map, boolean writable) throws SyscallException {
        int stride = map.spec().valueBytes() + 7 & ~7;
        boolean arena = map.spec().type() == MapType.ARENA;
        long page = MachineFacts.pageBytes();
        long entries = Integer.toUnsignedLong(map.spec().maxEntries());
        long bytes = arena ? entries * page : entries * stride;
        int protection =
                writable
                        ? MemoryMappings.PROT_READ | MemoryMappings.PROT_WRITE
                        : MemoryMappings.PROT_READ;
        long whole = (bytes + page - 1) / page * page;
        Arena owner = Arena.ofShared();
        try {
            long at = arena ? map.spec().extra() : 0;
            MemorySegment values =
                    at == 0
                            ? MemoryMappings.map(
                                    owner,
                                    map.fd(),
                                    0,
                                    whole,
                                    protection,
                                    MemoryMappings.MAP_SHARED)
                            : MemoryMappings.mapAt(
                                    owner,
                                    at,
                                    map.fd(),
                                    whole,
                                    protection,
                                    MemoryMappings.MAP_SHARED);
            // A store into pages that may not be written would end the JVM.
            return new MappedValues(owner, writable ? values : values.asReadOnly(), stride);
        } catch (SyscallException e) {
            owner.close();
            throw e;
        }
    }

    /** All values, each {@link #strideBytes} behind the other; valid until {@link #close}. */
    public MemorySegment segment() {
        return values;
    }

    /** From one value to the next: its size rounded up to 8. */
    public int strideBytes() {
        return stride;
    }

    /** A 64-bit word of a value, ordered before what is read next. */
    public long acquire(int index, int offset) {
        return (long) WORD.getAcquire(values, at(index, offset));
    }

    /** Adds to a 64-bit word of a value at once, also beside programs that do; the old word. */
    public long add(int index, int offset, long amount) {
        return (long) WORD.getAndAdd(values, at(index, offset), amount);
    }

    private long at(int index, int offset) {
        return (long) index * stride + offset;
    }

    /** Takes the mapping back. */
    @Override
    public void close() {
        arena.close();
    }
}
