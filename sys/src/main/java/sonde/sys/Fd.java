package sonde.sys;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Calls on an open file descriptor. EINTR is retried everywhere except {@link #close}; calls that
 * would block on a non-blocking descriptor (EAGAIN) return -1. None of them allocates on success,
 * so they may stand in a loop.
 *
 * <p>All of them may block: never on a virtual thread.
 */
public final class Fd {
    /** {@code SEEK_SET}, {@code SEEK_CUR}, {@code SEEK_END} of lseek(2). */
    public static final int SEEK_SET = 0;

    public static final int SEEK_CUR = 1;
    public static final int SEEK_END = 2;

    public static final int F_GETFD = 1;
    public static final int F_SETFD = 2;
    public static final int F_GETFL = 3;
    public static final int F_SETFL = 4;
    public static final int F_SETOWN = 8;
    public static final int F_SETSIG = 10;
    public static final int F_SETPIPE_SZ = 1031;
    public static final int F_GETPIPE_SZ = 1032;
    public static final int F_DUPFD_CLOEXEC = 1030;
    public static final int FD_CLOEXEC = 1;

    /** File status flag: send a signal when the descriptor becomes ready. */
    public static final int O_ASYNC = 020000;

    /** Flags of splice(2). */
    public static final int SPLICE_F_MOVE = 1;

    public static final int SPLICE_F_NONBLOCK = 2;
    public static final int SPLICE_F_MORE = 4;

    /** Operations of flock(2). */
    public static final int LOCK_SH = 1;

    public static final int LOCK_EX = 2;
    public static final int LOCK_NB = 4;
    public static final int LOCK_UN = 8;

    private static final int CLOSE = SyscallNames.number("close");
    private static final int READ = SyscallNames.number("read");
    private static final int WRITE = SyscallNames.number("write");
    private static final int PREAD = SyscallNames.number("pread64");
    private static final int PWRITE = SyscallNames.number("pwrite64");
    private static final int WRITEV = SyscallNames.number("writev");
    private static final int LSEEK = SyscallNames.number("lseek");
    private static final int FTRUNCATE = SyscallNames.number("ftruncate");
    private static final int FALLOCATE = SyscallNames.number("fallocate");
    private static final int FCHOWN = SyscallNames.number("fchown");
    private static final int FCHMOD = SyscallNames.number("fchmod");
    private static final int FCNTL = SyscallNames.number("fcntl");
    private static final int IOCTL = SyscallNames.number("ioctl");
    private static final int FLOCK = SyscallNames.number("flock");
    private static final int PIPE2 = SyscallNames.number("pipe2");
    private static final int SPLICE = SyscallNames.number("splice");
    private static final int COPY_FILE_RANGE = SyscallNames.number("copy_file_range");
    private static final int EVENTFD2 = SyscallNames.number("eventfd2");

    private Fd() {}

    /** The two ends of a pipe. */
    public record Pipe(int readEnd, int writeEnd) {}

    /**
     * Closes the descriptor. Linux has released it even when the call fails, so a failure is never
     * retried.
     */
    public static void close(int fd) throws SyscallException {
        SyscallResults.check("close", fd, NativeSyscall.syscall(CLOSE, fd, 0, 0));
    }

    /** {@link #close} on a path where an earlier failure is the one to tell. */
    public static void discard(int fd) {
        NativeSyscall.syscall(CLOSE, fd, 0, 0);
    }

    /** Reads up to the segment's size; 0 at end of file, -1 when it would block. */
    public static long read(int fd, MemorySegment into) throws SyscallException {
        return transfer("read", READ, fd, into.address(), into.byteSize(), 0);
    }

    /** Reads at a file offset; 0 at end of file, -1 when it would block. */
    public static long pread(int fd, MemorySegment into, long offset) throws SyscallException {
        return transfer("pread", PREAD, fd, into.address(), into.byteSize(), offset);
    }

    /** Writes the segment or its first part; -1 when it would block. */
    public static long write(int fd, MemorySegment from) throws SyscallException {
        return transfer("write", WRITE, fd, from.address(), from.byteSize(), 0);
    }

    /** Writes at a file offset; -1 when it would block. */
    public static long pwrite(int fd, MemorySegment from, long offset) throws SyscallException {
        return transfer("pwrite", PWRITE, fd, from.address(), from.byteSize(), offset);
    }

    /** Writes all of the bytes. */
    public static void writeFully(int fd, byte[] bytes) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment copy = arena.allocate(Math.max(1, bytes.length));
            MemorySegment.copy(bytes, 0, copy, JAVA_BYTE, 0, bytes.length);
            writeFully(fd, copy.asSlice(0, bytes.length));
        }
    }

    /** Writes the whole segment to a blocking descriptor. */
    public static void writeFully(int fd, MemorySegment from) throws SyscallException {
        long done = 0;
        while (done < from.byteSize()) {
            long count =
                    transfer("write", WRITE, fd, from.address() + done, from.byteSize() - done, 0);
            if (count <= 0) {
                throw new SyscallException(
                        "write", "fd " + fd, count < 0 ? Errno.EAGAIN : Errno.EIO);
            }
            done += count;
        }
    }

    /**
     * Writes several pieces in one call.
     *
     * @param vectors {@code count} pairs of address and length, 16 bytes each (struct iovec)
     * @return bytes written, possibly fewer than asked; -1 when it would block
     */
    public static long writev(int fd, MemorySegment vectors, int count) throws SyscallException {
        return transfer("writev", WRITEV, fd, vectors.address(), count, 0);
    }

    private static long transfer(
            String call, int number, int fd, long address, long size, long offset)
            throws SyscallException {
        while (true) {
            long result = NativeSyscall.syscall(number, fd, address, size, offset, 0, 0);
            if (result >= 0) {
                return result;
            }
            if (result == -Errno.EAGAIN) {
                return -1;
            }
            if (result != -Errno.EINTR) {
                throw new SyscallException(call, "fd " + fd, (int) -result);
            }
        }
    }

    /** Moves the file position; returns the new one in bytes from the start. */
    public static long lseek(int fd, long offset, int whence) throws SyscallException {
        return SyscallResults.check("lseek", fd, NativeSyscall.syscall(LSEEK, fd, offset, whence));
    }

    /** Sets the file's length. */
    public static void ftruncate(int fd, long sizeBytes) throws SyscallException {
        retry("ftruncate", FTRUNCATE, fd, sizeBytes, 0, 0);
    }

    /** Reserves blocks; {@code mode} 0 extends the file, FALLOC_FL_KEEP_SIZE is 1. */
    public static void fallocate(int fd, int mode, long offset, long sizeBytes)
            throws SyscallException {
        retry("fallocate", FALLOCATE, fd, mode, offset, sizeBytes);
    }

    /** Changes owner and group; -1 leaves one as it is. */
    public static void fchown(int fd, int uid, int gid) throws SyscallException {
        retry("fchown", FCHOWN, fd, uid, gid, 0);
    }

    /** Changes the permission bits. */
    public static void fchmod(int fd, int mode) throws SyscallException {
        retry("fchmod", FCHMOD, fd, mode, 0, 0);
    }

    /** fcntl(2) with an integer argument. */
    public static int fcntl(int fd, int command, long argument) throws SyscallException {
        return (int) retry("fcntl", FCNTL, fd, command, argument, 0);
    }

    /** ioctl(2) with an integer argument. */
    public static long ioctl(int fd, int request, long argument) throws SyscallException {
        return retry("ioctl", IOCTL, fd, Integer.toUnsignedLong(request), argument, 0);
    }

    /** ioctl(2) with a pointer to the segment. */
    public static long ioctl(int fd, int request, MemorySegment argument) throws SyscallException {
        return ioctl(fd, request, argument.address());
    }

    /** Takes or drops a lock; false when {@code LOCK_NB} is given and another holds it. */
    public static boolean flock(int fd, int operation) throws SyscallException {
        while (true) {
            long result = NativeSyscall.syscall(FLOCK, fd, operation, 0);
            if (result == -Errno.EAGAIN) {
                return false;
            }
            if (result != -Errno.EINTR) {
                SyscallResults.check("flock", fd, result);
                return true;
            }
        }
    }

    private static long retry(String call, int number, int fd, long a1, long a2, long a3)
            throws SyscallException {
        long result;
        do {
            result = NativeSyscall.syscall(number, fd, a1, a2, a3, 0, 0);
        } while (result == -Errno.EINTR);
        return SyscallResults.check(call, fd, result);
    }

    /** Makes a pipe; {@code flags} of {@link FileCalls}: O_CLOEXEC, O_NONBLOCK, O_DIRECT. */
    public static Pipe pipe2(int flags) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment ends = arena.allocate(JAVA_INT, 2);
            SyscallResults.check(
                    "pipe2", "", NativeSyscall.syscall(PIPE2, ends.address(), flags, 0));
            return new Pipe(ends.get(JAVA_INT, 0), ends.get(JAVA_INT, 4));
        }
    }

    /**
     * Moves bytes between a pipe and a file without copying them to user space, at the current
     * positions of both.
     *
     * @return bytes moved, 0 at end of input, -1 when it would block
     */
    public static long splice(int in, int out, long count, int flags) throws SyscallException {
        while (true) {
            long result = NativeSyscall.syscall(SPLICE, in, 0, out, 0, count, flags);
            if (result >= 0) {
                return result;
            }
            if (result == -Errno.EAGAIN) {
                return -1;
            }
            if (result != -Errno.EINTR) {
                throw new SyscallException("splice", "fd " + in + " to " + out, (int) -result);
            }
        }
    }

    /**
     * Copies between files in the kernel.
     *
     * @param inOffset 8 bytes, advanced by the kernel; {@link MemorySegment#NULL} uses the position
     * @param outOffset likewise for the output
     * @return bytes copied, 0 at end of input
     */
    public static long copyFileRange(
            int in, MemorySegment inOffset, int out, MemorySegment outOffset, long count)
            throws SyscallException {
        long result;
        do {
            result =
                    NativeSyscall.syscall(
                            COPY_FILE_RANGE,
                            in,
                            inOffset.address(),
                            out,
                            outOffset.address(),
                            count,
                            0);
        } while (result == -Errno.EINTR);
        if (result < 0) {
            throw new SyscallException("copy_file_range", "fd " + in + " to " + out, (int) -result);
        }
        return result;
    }

    /** Makes an event counter; {@code flags}: O_CLOEXEC, O_NONBLOCK, EFD_SEMAPHORE 1. */
    public static int eventfd(int initial, int flags) throws SyscallException {
        return (int)
                SyscallResults.check(
                        "eventfd2", "", NativeSyscall.syscall(EVENTFD2, initial, flags, 0));
    }

    /**
     * Makes this process's table of descriptors as long as that, where it may be (RLIMIT_NOFILE).
     * When threads share the table, whoever opens the 65th, the 257th and so on waits in the kernel
     * for an RCU grace period, some 5 to 40 ms (expand_fdtable, fs/file.c): so does this.
     */
    public static void reserve(int count) {
        long fd = NativeSyscall.syscall(EVENTFD2, 0, FileCalls.O_CLOEXEC, 0);
        if (fd >= 0) {
            long last = NativeSyscall.syscall(FCNTL, fd, F_DUPFD_CLOEXEC, count - 1);
            if (last >= 0) {
                discard((int) last);
            }
            discard((int) fd);
        }
    }

    /** Adds to an eventfd, waking who polls it. */
    public static void signal(int eventFd, long add) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(JAVA_LONG);
            value.set(JAVA_LONG, 0, add);
            write(eventFd, value);
        }
    }
}
