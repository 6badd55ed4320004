package sonde.sys;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A reusable array of {@code struct pollfd} (fd 0, events 4, revents 6; 8 bytes each). Waiting
 * allocates nothing. ppoll(2) is used because arm64 has no poll(2).
 */
public final class PollSet {
    public static final int POLLIN = 1;
    public static final int POLLOUT = 4;
    public static final int POLLERR = 8;
    public static final int POLLHUP = 16;
    public static final int POLLNVAL = 32;

    private static final int PPOLL = SyscallNames.number("ppoll");
    private static final int ENTRY = 8;

    private final MemorySegment entries;
    private final MemorySegment timeout;
    private final int capacity;
    private int count;

    /** A set of at most {@code capacity} descriptors, in memory of the caller's arena. */
    public PollSet(Arena arena, int capacity) {
        this.capacity = capacity;
        entries = arena.allocate((long) capacity * ENTRY, 8);
        timeout = arena.allocate(16, 8);
    }

    /** Adds a descriptor; the result is its index. */
    public int add(int fd, int events) {
        if (count == capacity) {
            throw new IllegalStateException("more than " + capacity + " descriptors");
        }
        int index = count++;
        entries.set(JAVA_INT, (long) index * ENTRY, fd);
        entries.set(JAVA_SHORT, (long) index * ENTRY + 4, (short) events);
        return index;
    }

    /** Leaves one out from now on (poll ignores negative descriptors). */
    public void remove(int index) {
        entries.set(JAVA_INT, (long) index * ENTRY, -1);
        entries.set(JAVA_SHORT, (long) index * ENTRY + 6, (short) 0);
    }

    /**
     * Waits until one is ready.
     *
     * @param timeoutNanos longest wait; negative waits for ever
     * @return how many are ready; 0 after the time or when a signal came
     */
    public int await(long timeoutNanos) throws SyscallException {
        long deadline = 0;
        if (timeoutNanos >= 0) {
            timeout.set(JAVA_LONG, 0, timeoutNanos / 1_000_000_000L);
            timeout.set(JAVA_LONG, 8, timeoutNanos % 1_000_000_000L);
            deadline = timeout.address();
        }
        long result = NativeSyscall.syscall(PPOLL, entries.address(), count, deadline, 0, 8, 0);
        if (result == -Errno.EINTR) {
            return 0;
        }
        if (result < 0) {
            throw new SyscallException("ppoll", count + " descriptors", (int) -result);
        }
        return (int) result;
    }

    /** What is ready at that index: the POLL bits, 0 for nothing. */
    public int ready(int index) {
        return Short.toUnsignedInt(entries.get(JAVA_SHORT, (long) index * ENTRY + 6));
    }
}
