package sonde.recording.names;

import java.util.function.IntUnaryOperator;

/**
 * The words at the address that a thread waits for in futex(2), and which of them names the owner
 * of a lock:
 *
 * <ul>
 *   <li>glibc waits with FUTEX_WAIT for the value 2 of a mutex, whose owner stands 8 bytes on
 *       (nptl/lowlevellock.h, struct __pthread_mutex_s);
 *   <li>and for the value 3 of an rwlock, whose writer stands 16 bytes from {@code __wrphase_futex}
 *       and 12 from {@code __writers_futex} (struct __pthread_rwlock_arch_t, since 2.25);
 *   <li>robust locks, those with priority inheritance and those of musl have the owner in the word.
 * </ul>
 *
 * @param operation of futex(2), without flags
 * @param expected the value that the thread waits to change
 */
public record FutexWords(int operation, int expected, int[] words) {
    /** Words read from the address on. */
    public static final int COUNT = 5;

    private static final int FUTEX_WAIT = 0;
    private static final int FUTEX_LOCK_PI = 6;
    private static final int FUTEX_WAIT_BITSET = 9;
    private static final int FUTEX_LOCK_PI2 = 13;
    private static final int FUTEX_TID_MASK = 0x3fffffff;
    private static final int FUTEX_WAITERS = 0x80000000;
    private static final int LOCKED = 2;
    private static final int WRITING = 3;

    public FutexWords {
        words = words.clone();
    }

    /** Whether the operation waits. */
    public boolean waits() {
        return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET || inherits();
    }

    private boolean inherits() {
        return operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2;
    }

    /**
     * The owner of the lock, 0 when it is none, or not known.
     *
     * @param threadOf a thread of the waiting process by the number it has for itself, 0 for none
     */
    public int owner(IntUnaryOperator threadOf) {
        int word = words[0];
        int owner = 0;
        if (inherits() || (word & FUTEX_WAITERS) != 0 && word == expected) {
            owner = threadOf.applyAsInt(word & FUTEX_TID_MASK);
        }
        if (owner == 0 && waits() && expected == LOCKED && word == LOCKED) {
            owner = threadOf.applyAsInt(words[2]);
        }
        if (owner == 0 && waits() && expected == WRITING && word == WRITING) {
            int writer = threadOf.applyAsInt(words[4]);
            owner = writer != 0 ? writer : threadOf.applyAsInt(words[3]);
        }
        return owner;
    }

    /**
     * The thread whose end is waited for: pthread_join(3) waits for the kernel to clear its tid.
     */
    public int ending(IntUnaryOperator threadOf) {
        boolean same = waits() && !inherits() && words[0] == expected && expected > WRITING;
        return same ? threadOf.applyAsInt(expected) : 0;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof FutexWords(int o, int e, int[] w)
                && o == operation
                && e == expected
                && java.util.Arrays.equals(w, words);
    }

    @Override
    public int hashCode() {
        return 31 * operation + java.util.Arrays.hashCode(words);
    }
}
