package sonde.lang.bpftrace.lower;

import java.nio.ByteBuffer;
import java.util.Collection;

/**
 * What the programs of a script lost, put together from readings of {@link ScriptUnit#SHARED}.
 *
 * <p>A failed update is one addition of its error as an unsigned number of 32 bits, so that neither
 * a success nor the reason needs a branch in the program: the sum of n errors e1, e2… is {@code n *
 * 2^32 - (e1 + e2 + …)}. Of one reading the number of failures is exact while fewer than 2^32/110
 * came since the reading before; the reasons are exact unless failures of two kinds beside a full
 * map lie in one reading.
 */
public final class ScriptLosses {
    /** Bytes that a program has in {@link ScriptUnit#SHARED}. */
    static final int ROW_BYTES = 40;

    /** Offset in a row of 8 bytes that hold 1: the first value of what is counted. */
    static final int ONE = 0;

    /** Offset in a row of the sum of errors. */
    static final int UPDATES = 24;

    private static final int E2BIG = 7;

    /**
     * What else an update ends with: EBUSY (kernel/bpf/hashtab.c until 6.14), EDEADLK and ETIMEDOUT
     * (since), ENOMEM.
     */
    private static final int[] BUSY = {16, 35, 110, 12};

    private final int start;
    private final long[] sums;
    private final long[][] lost;

    /**
     * Nothing lost.
     *
     * @param unit whose programs are known
     */
    public ScriptLosses(ScriptUnit unit) {
        start = unit.zeroBytes();
        sums = new long[Math.max(1, unit.programs())];
        lost = new long[sums.length][LossReason.values().length];
    }

    /** Why something was lost. */
    public enum LossReason {
        /** The ring was full: an event. */
        RING_FULL("ring full"),
        /** The ring for control was full: what the script asked the tracer for. */
        CONTROL_FULL("control ring full"),
        /** Interrupted runs of the program had all memory that their CPU has for it: a hit. */
        INTERRUPTED("all memory of the CPU was in use by interrupted runs"),
        /** A map was full: a value. */
        MAP_FULL("map full"),
        /** A map could not be written to, as where the probe had interrupted a writer: a value. */
        MAP_BUSY("map busy");

        private final String words;

        LossReason(String words) {
            this.words = words;
        }

        /** As it is told. */
        public String words() {
            return words;
        }

        /** Whether it is an event that did not come, not a value. */
        public boolean isEvent() {
            return this == RING_FULL || this == CONTROL_FULL || this == INTERRUPTED;
        }
    }

    /** Offset in a row of what is counted one by one: events. */
    static int at(LossReason reason) {
        return switch (reason) {
            case RING_FULL -> 8;
            case CONTROL_FULL -> 16;
            case INTERRUPTED -> 32;
            case MAP_FULL, MAP_BUSY -> UPDATES;
        };
    }

    /**
     * Adds what was lost since the reading before.
     *
     * @param shared the value of {@link ScriptUnit#SHARED}
     */
    public void read(ByteBuffer shared) {
        for (int program = 0; program < sums.length; program++) {
            int row = start + program * ROW_BYTES;
            for (LossReason reason : LossReason.values()) {
                if (reason.isEvent()) {
                    lost[program][reason.ordinal()] = shared.getLong(row + at(reason));
                }
            }
            long sum = shared.getLong(row + UPDATES);
            failed(lost[program], sum - sums[program]);
            sums[program] = sum;
        }
    }

    private static void failed(long[] lost, long sum) {
        long failures = sum + (1L << 32) - 1 >>> 32;
        long busy = busy(failures, (failures << 32) - sum - failures * E2BIG);
        lost[LossReason.MAP_FULL.ordinal()] += failures - busy;
        lost[LossReason.MAP_BUSY.ordinal()] += busy;
    }

    /**
     * How many of the failures were no full map.
     *
     * @param rest of the sum of errors, with E2BIG taken off for each failure
     */
    private static long busy(long failures, long rest) {
        for (int error : BUSY) {
            long count = rest / (error - E2BIG);
            if (count * (error - E2BIG) == rest && count <= failures) {
                return count;
            }
        }
        return failures;
    }

    /** How much programs had lost at the last reading. */
    public long count(Collection<Integer> programs, LossReason reason) {
        return programs.stream().mapToLong(program -> count(program, reason)).sum();
    }

    /** How much a program had lost at the last reading. */
    public long count(int program, LossReason reason) {
        return lost[program][reason.ordinal()];
    }
}
