package sonde.sys;

/**
 * Error numbers of Linux (include/uapi/asm-generic/errno*.h, 6.18; equal on x86-64 and arm64) and
 * those that only tracepoints see (include/linux/errno.h).
 */
public final class Errno {
    public static final int EPERM = 1;
    public static final int ENOENT = 2;
    public static final int ESRCH = 3;
    public static final int EINTR = 4;
    public static final int EIO = 5;
    public static final int E2BIG = 7;
    public static final int ENOEXEC = 8;
    public static final int EBADF = 9;
    public static final int ECHILD = 10;
    public static final int EAGAIN = 11;
    public static final int ENOMEM = 12;
    public static final int EACCES = 13;
    public static final int EFAULT = 14;
    public static final int EBUSY = 16;
    public static final int EEXIST = 17;
    public static final int ENODEV = 19;
    public static final int ENOTDIR = 20;
    public static final int EISDIR = 21;
    public static final int EINVAL = 22;
    public static final int EMFILE = 24;
    public static final int EFBIG = 27;
    public static final int ENOSPC = 28;
    public static final int EPIPE = 32;
    public static final int ENAMETOOLONG = 36;
    public static final int ENOSYS = 38;
    public static final int ELOOP = 40;
    public static final int EOPNOTSUPP = 95;
    public static final int ESTALE = 116;

    private static final String[] TABLE = ResourceTable.numbered("errno.txt", 531);

    private Errno() {}

    /** The symbol: {@code "ENOENT"}; {@code "errno 999"} when the kernel has none of that value. */
    public static String name(int errno) {
        String entry = entry(errno);
        return entry.isEmpty() ? "errno " + errno : entry.substring(0, entry.indexOf(' '));
    }

    /** Symbol and meaning: {@code "ENOENT (No such file or directory)"}. */
    public static String describe(int errno) {
        String entry = entry(errno);
        int blank = entry.indexOf(' ');
        return blank < 0
                ? name(errno)
                : entry.substring(0, blank) + " (" + entry.substring(blank + 1) + ")";
    }

    /** The meaning alone: {@code "No such file or directory"}; the symbol when there is none. */
    public static String meaning(int errno) {
        String entry = entry(errno);
        int blank = entry.indexOf(' ');
        return blank < 0 ? name(errno) : entry.substring(blank + 1);
    }

    private static String entry(int errno) {
        return errno >= 0 && errno < TABLE.length ? TABLE[errno] : "";
    }
}
