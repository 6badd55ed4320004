package sonde.recording.syscall;

import java.util.BitSet;
import java.util.Set;

/**
 * Which lines are written, and what stands before and behind a call.
 *
 * @param pid what is before a line of several processes
 * @param time what else is before a line
 * @param durations whether the time of a call is behind it (-T)
 * @param instructions whether the instruction pointer is shown (-i)
 * @param numbers whether the call's number is shown (-n)
 * @param calls numbers of the calls that are shown
 * @param signals that are shown
 * @param statuses of calls that are shown; all when empty
 * @param exits whether the ends of threads are shown
 */
public record LineStyle(
        PidForm pid,
        TimeForm time,
        boolean durations,
        boolean instructions,
        boolean numbers,
        BitSet calls,
        BitSet signals,
        Set<CallStatus> statuses,
        boolean exits) {
    /** The number of the thread. */
    public enum PidForm {
        NONE,
        /** {@code 1234 }: in files. */
        PLAIN,
        /** {@code [pid 1234] }, as soon as there are two threads. */
        BRACKETS,
    }

    /** The time of a line. */
    public enum TimeForm {
        NONE,
        /** -t. */
        CLOCK,
        /** -tt. */
        CLOCK_MICROS,
        /** -ttt. */
        EPOCH,
        /** -r. */
        RELATIVE,
    }

    /** How a call ended. */
    public enum CallStatus {
        SUCCESSFUL,
        FAILED,
        UNFINISHED,
    }

    boolean shows(CallStatus status) {
        return statuses.isEmpty() || statuses.contains(status);
    }
}
