package sonde.bpf.ring;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import sonde.binary.MalformedInputException;
import sonde.bpf.BpfMap;
import sonde.bpf.MapType;
import sonde.sys.Errno;
import sonde.sys.MachineFacts;
import sonde.sys.MemoryMappings;
import sonde.sys.PollSet;
import sonde.sys.SyscallException;

/**
 * Reads a {@link MapType#RING_BUFFER} (Linux 5.8): one reader, any number of writing CPUs, records
 * in the order of their reservation (kernel/bpf/ringbuf.c).
 *
 * <p>The first page of the map holds the consumer's position, written here; the second the
 * producer's, read here; the data follows twice in a row, so that no record is cut in two. A record
 * is a header of 8 bytes (u32 length with bit 31 "busy" and bit 30 "discarded", u32 page offset)
 * and its data, the whole rounded up to 8. Records that programs could not reserve are lost before
 * they reach the ring; programs count those themselves.
 *
 * <p>For one platform thread at a time.
 */
public final class RingBuffer implements AutoCloseable {
    private static final int BUSY = 1 << 31;
    private static final int DISCARDED = 1 << 30;
    private static final int HEADER = 8;

    private static final VarHandle POSITION = JAVA_LONG.varHandle();
    private static final VarHandle LENGTH = JAVA_INT.varHandle();

    /** Mapped at first: all mapped pages count as this process's memory, written or not. */
    private static final long FIRST_BYTES = 1 << 20;

    /** Space given back at least this often while one drain goes on. */
    private static final long RELEASE_BYTES = 1 << 18;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment consumer;
    private final BpfMap map;
    private final PollSet poll;
    private final long page;
    private final long mask;

    /** The producer's page and data, up to {@link #mappedEnd}. */
    private MemorySegment ring;

    private long mappedEnd;
    private long position;
    private long discarded;

    private RingBuffer(BpfMap map, BpfMap... others) throws SyscallException {
        this.map = map;
        page = MachineFacts.pageBytes();
        long size = Integer.toUnsignedLong(map.spec().maxEntries());
        mask = size - 1;
        consumer = map(arena, map, 0, page, MemoryMappings.PROT_READ | MemoryMappings.PROT_WRITE);
        mappedEnd = Math.min(FIRST_BYTES, size);
        ring = map(arena, map, page, page + mappedEnd, MemoryMappings.PROT_READ);
        poll = new PollSet(arena, 1 + others.length);
        poll.add(map.fd(), PollSet.POLLIN);
        for (BpfMap other : others) {
            poll.add(other.fd(), PollSet.POLLIN);
        }
        position = (long) POSITION.getAcquire(consumer, 0L);
    }

    /**
     * Maps the ring; the map stays the caller's.
     *
     * @throws SyscallException EPERM or ENOMEM of the mapping, EINVAL for another kind of map
     */
    public static RingBuffer open(BpfMap map) throws SyscallException {
        return open(map, new BpfMap[0]);
    }

    /**
     * As {@link #open(BpfMap)}; records in other rings end the wait too.
     *
     * @param others rings that somebody else reads
     */
    public static RingBuffer open(BpfMap map, BpfMap... others) throws SyscallException {
        if (map.spec().type() != MapType.RING_BUFFER) {
            throw new SyscallException("mmap", map.spec().toString(), Errno.EINVAL);
        }
        return new RingBuffer(map, others);
    }

    static MemorySegment map(Arena arena, BpfMap map, long offset, long bytes, int protection)
            throws SyscallException {
        try {
            return MemoryMappings.map(
                    arena, map.fd(), offset, bytes, protection, MemoryMappings.MAP_SHARED);
        } catch (SyscallException e) {
            arena.close();
            throw e;
        }
    }

    /**
     * Waits until there is a record (programs that write with BPF_RB_NO_WAKEUP do not end the wait;
     * drain after the time has passed).
     *
     * @param timeoutNanos longest wait; negative waits for ever
     * @return false after the time, or when a signal came
     */
    public boolean await(long timeoutNanos) throws SyscallException {
        return poll.await(timeoutNanos) > 0;
    }

    /**
     * As {@link #await(long)}, then sleeps, so that a busy ring is drained in batches: the kernel
     * wakes the reader for the first record after it had caught up, which at high rates would be
     * every few records.
     *
     * @param gatherNanos sleep after the first record; the ring must hold what comes meanwhile
     */
    public boolean await(long timeoutNanos, long gatherNanos) throws SyscallException {
        boolean ready = await(timeoutNanos);
        if (ready && pendingBytes() < (mask + 1) / 4) {
            LockSupport.parkNanos(gatherNanos);
        }
        return ready;
    }

    /** Bytes reserved by programs and not yet read, headers included. */
    public long pendingBytes() {
        return (long) POSITION.getAcquire(ring, 0L) - position;
    }

    /** Whether there is something that was not read; by any thread. */
    public boolean hasRecords() {
        return (long) POSITION.getAcquire(ring, 0L) != (long) POSITION.getAcquire(consumer, 0L);
    }

    /** Records that programs had reserved and then discarded, so far. */
    public long discarded() {
        return discarded;
    }

    /**
     * Hands over all records that are complete; stops at one that a program is still writing.
     *
     * @return how many
     * @throws MalformedInputException when a length cannot be true
     * @throws SyscallException when there is no memory to map the whole ring, which the first
     *     record beyond its first MiB asks for
     */
    public long drain(RecordVisitor visitor) throws IOException {
        return drain(visitor, Long.MAX_VALUE);
    }

    /** As {@link #drain(RecordVisitor)}, at most so many records. */
    public long drain(RecordVisitor visitor, long most) throws IOException {
        long count = 0;
        while (count < most) {
            // Acquire: the headers up to here are written, at least as busy.
            long end = (long) POSITION.getAcquire(ring, 0L);
            long before = position;
            if (end - before > mask + 1) {
                throw new MalformedInputException(
                        "ring buffer", "producer position", end, "beyond the ring");
            }
            count += drain(visitor, end, most - count);
            if (position == before) {
                break;
            }
        }
        return count;
    }

    /** Bytes of records read so far, headers included. */
    public long readBytes() {
        return position;
    }

    /**
     * Bytes of records reserved by programs so far, headers included: what programs get from
     * bpf_ringbuf_query of BPF_RB_PROD_POS.
     */
    public long reservedBytes() {
        return (long) POSITION.getAcquire(ring, 0L);
    }

    /**
     * Hands over the complete records that begin before a position, {@link #reservedBytes} of some
     * time before; stops at one that a program is still writing.
     *
     * @return how many
     */
    public long drainTo(RecordVisitor visitor, long end) throws IOException {
        if (end - position > mask + 1) {
            throw new MalformedInputException(
                    "ring buffer", "producer position", end, "beyond the ring");
        }
        return drain(visitor, end, Long.MAX_VALUE);
    }

    private long drain(RecordVisitor visitor, long end, long most) throws IOException {
        if (end > mappedEnd) {
            ring = map(arena, map, page, page + 2 * (mask + 1), MemoryMappings.PROT_READ);
            mappedEnd = Long.MAX_VALUE;
        }
        long count = 0;
        long at = position;
        long released = at;
        try {
            while (at < end && count < most) {
                long offset = page + (at & mask);
                // Acquire: pairs with the xchg that clears the busy bit after the data.
                int header = (int) LENGTH.getAcquire(ring, offset);
                if ((header & BUSY) != 0) {
                    break;
                }
                int length = header & ~(BUSY | DISCARDED);
                long step = length + HEADER + 7L & ~7L;
                if (step > end - at) {
                    throw new MalformedInputException(
                            "ring buffer", "length", at, length + " of " + (end - at));
                }
                at += step;
                if ((header & DISCARDED) == 0) {
                    visitor.record(ring, offset + HEADER, length);
                    count++;
                } else {
                    discarded++;
                }
                if (at - released >= RELEASE_BYTES) {
                    // Release: what was read is read; the kernel may write over it.
                    POSITION.setRelease(consumer, 0L, at);
                    released = at;
                }
            }
        } finally {
            position = at;
            POSITION.setRelease(consumer, 0L, at);
            // The next look at the producer's position must come after this store is seen, or a
            // record that finds us not caught up would neither be read nor wake us.
            VarHandle.fullFence();
        }
        return count;
    }

    /** Takes the mapping back; records not read stay in the map. */
    @Override
    public void close() {
        arena.close();
    }
}
