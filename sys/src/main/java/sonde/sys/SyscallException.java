package sonde.sys;

import java.io.IOException;

/** A system call that failed: which, on what, and the errno. Subclasses add the reason. */
public class SyscallException extends IOException {
    private static final long serialVersionUID = 1L;

    private final String call;
    private final String object;
    private final int errno;
    private final String why;

    /**
     * @param call the system call, {@code "perf_event_open"}
     * @param object what it was tried on, {@code "sched:sched_switch, cpu 3"}
     */
    public SyscallException(String call, String object, int errno) {
        super(call + "(" + object + "): " + Errno.describe(errno));
        this.call = call;
        this.object = object;
        this.errno = errno;
        this.why = "";
    }

    /**
     * For those that know the reason behind the errno.
     *
     * @param why in words; empty when unknown
     */
    protected SyscallException(String call, String object, int errno, String why) {
        super(
                call
                        + "("
                        + object
                        + "): "
                        + Errno.describe(errno)
                        + (why.isEmpty() ? "" : ": " + why));
        this.call = call;
        this.object = object;
        this.errno = errno;
        this.why = why;
    }

    /** The reason behind the errno in words, empty when unknown. */
    public String why() {
        return why;
    }

    /** The system call's name. */
    public String call() {
        return call;
    }

    /** What it was tried on. */
    public String object() {
        return object;
    }

    /** The errno, positive. */
    public int errno() {
        return errno;
    }
}
