package sonde.recording.perfdata;

import java.lang.foreign.MemorySegment;
import sonde.sys.Errno;
import sonde.sys.NativeSyscall;
import sonde.sys.SyscallException;
import sonde.sys.SyscallNames;

/** Writes at given places of an open file, without the heap: pwrite64(2) and ftruncate(2). */
final class RawOutput {
    private static final int PWRITE64 = SyscallNames.number("pwrite64");
    private static final int FTRUNCATE = SyscallNames.number("ftruncate");

    private final int fd;
    private final String object;

    RawOutput(int fd) {
        this.fd = fd;
        this.object = "perf.data, fd " + fd;
    }

    /**
     * Writes all of a native segment.
     *
     * @throws SyscallException when the kernel takes no more (ENOSPC, EFBIG, EIO); a part may have
     *     been written
     */
    void write(MemorySegment bytes, long offset) throws SyscallException {
        long done = 0;
        while (done < bytes.byteSize()) {
            long count =
                    NativeSyscall.syscall(
                            PWRITE64,
                            fd,
                            bytes.address() + done,
                            bytes.byteSize() - done,
                            offset + done,
                            0,
                            0);
            if (count > 0) {
                done += count;
            } else if (count != -Errno.EINTR) {
                throw new SyscallException(
                        "pwrite64", object, count == 0 ? Errno.EIO : (int) -count);
            }
        }
    }

    void truncate(long sizeBytes) throws SyscallException {
        long result = NativeSyscall.syscall(FTRUNCATE, fd, sizeBytes, 0);
        if (result < 0) {
            throw new SyscallException("ftruncate", object, (int) -result);
        }
    }
}
