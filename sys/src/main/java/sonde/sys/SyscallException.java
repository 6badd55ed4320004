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

    /** What the kernel refused and why, with its own word at the end. */
    public String sentence() {
        String reason =
                switch (errno) {
                    case Errno.ENOENT -> "there is no such file or folder";
                    case Errno.EACCES -> "this user may not do that here; as root it may work";
                    case Errno.EPERM -> "not permitted to this user; as root it may work";
                    case Errno.ENOSPC -> "the disk is full";
                    case Errno.ENOTDIR -> "a part of the path is not a folder";
                    case Errno.EMFILE -> "too many open files; raise 'ulimit -n'";
                    case Errno.ENOMEM -> "the kernel has not enough memory for that";
                    case Errno.ENOSYS -> "this kernel does not have that system call";
                    case Errno.EBUSY -> "somebody else is using it";
                    default -> Errno.meaning(errno);
                };
        String because = why.isEmpty() ? reason : why;
        return object + ": " + because + " (" + call + ": " + Errno.name(errno) + ")";
    }
}
