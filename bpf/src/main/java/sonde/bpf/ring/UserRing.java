package sonde.bpf.ring;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import sonde.bpf.BpfMap;
import sonde.bpf.MapType;
import sonde.sys.Errno;
import sonde.sys.Machine;
import sonde.sys.Pages;
import sonde.sys.SyscallException;

/**
 * Writes a {@link MapType#USER_RING_BUFFER} (Linux 6.1), which a program drains with
 * bpf_user_ringbuf_drain. The layout is that of {@link RingBuffer} with the roles exchanged: the
 * consumer's page is read here, the producer's page and the data are written.
 *
 * <p>For one thread at a time.
 */
public final class UserRing implements AutoCloseable {
    private static final int HEADER = 8;
    private static final VarHandle POSITION = JAVA_LONG.varHandle();
    private static final VarHandle LENGTH = JAVA_INT.varHandle();

    private final Arena arena = Arena.ofShared();
    private final MemorySegment consumer;
    private final MemorySegment ring;
    private final long page;
    private final long mask;

    private UserRing(BpfMap map) throws SyscallException {
        page = Machine.pageBytes();
        long size = Integer.toUnsignedLong(map.spec().maxEntries());
        mask = size - 1;
        consumer = RingBuffer.map(arena, map, 0, page, Pages.PROT_READ);
        ring =
                RingBuffer.map(
                        arena, map, page, page + 2 * size, Pages.PROT_READ | Pages.PROT_WRITE);
    }

    /** Maps the ring; the map stays the caller's. */
    public static UserRing open(BpfMap map) throws SyscallException {
        if (map.spec().type() != MapType.USER_RING_BUFFER) {
            throw new SyscallException("mmap", map.spec().toString(), Errno.EINVAL);
        }
        return new UserRing(map);
    }

    /**
     * Appends a record.
     *
     * @return false when the ring has no room until the program drains it
     * @throws IllegalArgumentException for a record larger than the ring
     */
    public boolean write(MemorySegment data) {
        long step = data.byteSize() + HEADER + 7 & ~7L;
        if (step > mask + 1) {
            throw new IllegalArgumentException(
                    data.byteSize() + " bytes for a ring of " + (mask + 1));
        }
        long read = (long) POSITION.getAcquire(consumer, 0L);
        long at = ring.get(JAVA_LONG, 0);
        if (at + step - read > mask + 1) {
            return false;
        }
        long offset = page + (at & mask);
        MemorySegment.copy(data, JAVA_BYTE, 0, ring, JAVA_BYTE, offset + HEADER, data.byteSize());
        ring.set(JAVA_INT, offset + 4, 0);
        LENGTH.setRelease(ring, offset, (int) data.byteSize());
        // Release: header and data are there before the program sees them.
        POSITION.setRelease(ring, 0L, at + step);
        return true;
    }

    /** Bytes written and not yet drained, headers included. */
    public long pendingBytes() {
        return ring.get(JAVA_LONG, 0) - (long) POSITION.getAcquire(consumer, 0L);
    }

    /** Takes the mapping back. */
    @Override
    public void close() {
        arena.close();
    }
}
