package sonde.bpf;

import sonde.bpf.call.KernelObject;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.SyscallException;

/** Names of objects in a bpffs, by which they outlive all processes. */
public final class PinNames {
    private PinNames() {}

    /**
     * Gives the object behind a descriptor a name.
     *
     * @throws SyscallException EEXIST for a name that is taken, EPERM where there is no bpffs
     */
    public static void pin(int fd, String path) throws SyscallException {
        KernelObject.pin(fd, path);
    }

    /**
     * What is pinned there: {@code "bpf-prog"}, {@code "bpf-map"}, {@code "bpf-link"}.
     *
     * @throws SyscallException ENOENT, EPERM for files that are no pinned objects
     */
    public static String kind(String path) throws SyscallException {
        int fd = KernelObject.openPinned(path);
        try {
            return KernelObject.kind(fd);
        } finally {
            Fd.discard(fd);
        }
    }

    /**
     * Removes a name; other files are left alone.
     *
     * @throws SyscallException EINVAL for a file that is not a pinned object
     */
    public static void remove(String path) throws SyscallException {
        if (!kind(path).startsWith("bpf-")) {
            throw new SyscallException(
                    "bpf", path + ", which is not a pinned object", Errno.EINVAL);
        }
        KernelObject.unpin(path);
    }
}
