package sonde.analysis.syscall;

import java.util.Map;
import java.util.TreeMap;
import sonde.analysis.LogLinear;

/** The calls of one number. */
public final class SyscallStats {
    /** The largest errno a system call returns negated: MAX_ERRNO of include/linux/err.h. */
    static final int MAX_ERRNO = 4095;

    private final int number;
    private final LogLinear latency = new LogLinear();
    private final Map<Integer, Long> errors = new TreeMap<>();
    private int lastErrno;
    private long lastErrnoCount;
    private long pending;
    private long positive;

    /** No calls yet. */
    public SyscallStats(int number) {
        this.number = number;
    }

    void add(long nanos, long result) {
        latency.add(nanos);
        positive += result > 0 ? 1 : 0;
        if (result < 0 && result >= -MAX_ERRNO) {
            failed((int) -result, 1);
        }
    }

    private void failed(int errno, long count) {
        // A loop that fails fails with the same number: no boxing for it.
        if (errno == lastErrno) {
            lastErrnoCount += count;
            return;
        }
        flush();
        lastErrno = errno;
        lastErrnoCount = count;
    }

    private void flush() {
        if (lastErrnoCount > 0) {
            errors.merge(lastErrno, lastErrnoCount, Long::sum);
            lastErrnoCount = 0;
        }
    }

    void addPending() {
        pending++;
    }

    /** Adds the calls of another. */
    public void add(SyscallStats other) {
        latency.add(other.latency);
        other.errors().forEach(this::failed);
        pending += other.pending;
        positive += other.positive;
    }

    private void failed(Integer errno, Long count) {
        failed(errno.intValue(), count.longValue());
    }

    /** The number, as the recording machine's architecture counts. */
    public int number() {
        return number;
    }

    /** Durations of the calls that returned, nanoseconds. */
    public LogLinear latency() {
        return latency;
    }

    /** How many failed, by errno. */
    public Map<Integer, Long> errors() {
        flush();
        return errors;
    }

    /** How many failed. */
    public long errorCount() {
        return errors().values().stream().mapToLong(Long::longValue).sum();
    }

    /** How many returned more than 0. */
    public long positive() {
        return positive;
    }

    /** Calls that had not returned at the end. */
    public long pending() {
        return pending;
    }
}
