package sonde.recording.syscall;

import java.util.BitSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which lines are written, and what stands before and behind a call.
 *
 * @param pid what is before a line of several processes
 * @param time times before and behind a call
 * @param instructions whether the instruction pointer is shown (-i)
 * @param numbers whether the call's number is shown (-n)
 * @param filter what is shown
 */
public record LineStyle(
        PidForm pid, TimeStyle time, boolean instructions, boolean numbers, LineFilter filter) {
    /** The number of the thread. */
    public enum PidForm {
        NONE,
        /** {@code 1234 }: in files. */
        PLAIN,
        /** {@code [pid 1234] }, as soon as there are two threads. */
        BRACKETS,
        /** The same for a single thread. */
        ALWAYS,
    }

    /** The clock of a line. */
    public enum ClockForm {
        NONE,
        TIME,
        UNIX,
    }

    /**
     * Times.
     *
     * @param clock what the time of a line is
     * @param clockDigits of its fraction
     * @param sinceDigits digits of the time since the line before (-r); -1 for none
     * @param durationDigits of the time of a call (-T); -1 for none
     */
    public record TimeStyle(ClockForm clock, int clockDigits, int sinceDigits, int durationDigits) {
        /** No times. */
        public static final TimeStyle NONE = new TimeStyle(ClockForm.NONE, 0, -1, -1);
    }

    /**
     * Which calls and signals are shown.
     *
     * @param calls by number
     * @param signals by number
     * @param statuses of calls; all when empty
     * @param paths calls that have one of them as argument or behind a descriptor (-P); all when
     *     empty
     * @param descriptors calls that have one of them as argument; null for all
     * @param slower nanoseconds that a call takes at least
     * @param exits whether the ends of threads are shown
     * @param superseded whether it is shown that an exec ends a thread
     */
    public record LineFilter(
            BitSet calls,
            BitSet signals,
            Set<CallStatus> statuses,
            Set<String> paths,
            @Nullable BitSet descriptors,
            long slower,
            boolean exits,
            boolean superseded) {
        public LineFilter {
            paths = Set.copyOf(paths);
        }

        boolean shows(CallStatus status) {
            return statuses.isEmpty() || statuses.contains(status);
        }

        /** Whether a call has to end before it is known whether it is shown. */
        boolean needsEnd() {
            return !statuses.isEmpty() || !paths.isEmpty() || slower > 0;
        }

        /** Whether more than a call's number decides. */
        public boolean needsRecords() {
            return needsEnd() || descriptors != null;
        }

        boolean shows(CallRecord call) {
            long number = call.number();
            return calls.get(
                    number < 0 || number >= CallTable.CALLS ? CallTable.CALLS : (int) number);
        }
    }

    /** How a call ended. */
    public enum CallStatus {
        SUCCESSFUL,
        FAILED,
        UNFINISHED,
    }
}
