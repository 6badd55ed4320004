package sonde.bpf.call;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import sonde.sys.Bpf;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.FsStatus;
import sonde.sys.SyscallException;

/** What programs, maps and links have in common: numbers, pinned names, facts by descriptor. */
public final class KernelObject {
    /** More objects than any machine has; ends a walk that new objects would keep going. */
    private static final int MOST_IDS = 1 << 20;

    private static final int PATH_BYTES = 4096;

    private KernelObject() {}

    /**
     * The numbers of all objects of a kind, rising; those made meanwhile may be missing.
     *
     * @param command one of the GET_NEXT_ID
     * @throws SyscallException EPERM without CAP_SYS_ADMIN, EINVAL on kernels without that kind
     */
    public static List<Integer> ids(int command) throws SyscallException {
        List<Integer> ids = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = BpfAttr.allocate(arena);
            while (ids.size() < MOST_IDS) {
                long result = Bpf.tryCall(command, attr);
                if (result == -Errno.ENOENT) {
                    break;
                }
                if (result < 0) {
                    throw new SyscallException("bpf", "listing objects", (int) -result);
                }
                int id = attr.get(JAVA_INT, 4);
                ids.add(id);
                attr.set(JAVA_INT, 0, id);
            }
        }
        return ids;
    }

    /**
     * Opens an object by its number.
     *
     * @param command one of the GET_FD_BY_ID
     * @throws SyscallException ENOENT when it is gone
     */
    public static int open(int command, int id, String what) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = BpfAttr.allocate(arena);
            attr.set(JAVA_INT, 0, id);
            return (int) Bpf.call(command, attr, what);
        }
    }

    /**
     * Gives an object a name in a bpffs; it lives until the name is removed.
     *
     * @throws SyscallException EPERM where the folder is not a bpffs, EEXIST, ENOENT
     */
    public static void pin(int fd, String path) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = BpfAttr.allocate(arena);
            attr.set(JAVA_LONG, 0, arena.allocateFrom(path).address());
            attr.set(JAVA_INT, 8, fd);
            Bpf.call(BpfAttr.OBJ_PIN, attr, "pin at " + path);
        } catch (SyscallException e) {
            throw inBpffs(path) ? e : new NoBpffsException(path, e.errno());
        }
    }

    /** Whether a pin can be there; where nothing can be said, it can. */
    private static boolean inBpffs(String path) {
        int slash = path.lastIndexOf('/');
        String folder = slash < 0 ? "." : slash == 0 ? "/" : path.substring(0, slash);
        try {
            return (int) FileCalls.statfs(folder).type() == (int) FsStatus.BPF_FS_MAGIC;
        } catch (SyscallException e) {
            return true;
        }
    }

    /** The kernel says ENOENT or EPERM only. */
    private static final class NoBpffsException extends SyscallException {
        private static final long serialVersionUID = 1L;

        NoBpffsException(String path, int errno) {
            super(
                    "bpf",
                    "pin at " + path,
                    errno,
                    "its folder is not a bpffs; mount one: mount -t bpf bpf /sys/fs/bpf");
        }
    }

    /** Removes a pinned name. */
    public static void unpin(String path) throws SyscallException {
        FileCalls.unlinkat(FileCalls.AT_FDCWD, path.getBytes(StandardCharsets.UTF_8), 0);
    }

    /**
     * Opens what is pinned there.
     *
     * @param kind {@code "bpf-map"}, {@code "bpf-prog"} or {@code "bpf-link"}: what the descriptor
     *     must be
     * @throws SyscallException ENOENT, EPERM; EINVAL for another kind of object
     */
    public static int openPinned(String path, String kind) throws SyscallException {
        int fd = openPinned(path);
        String found = kind(fd);
        if (!found.equals(kind)) {
            Fd.discard(fd);
            throw new SyscallException(
                    "bpf", path + ", which is a " + found + ", no " + kind, Errno.EINVAL);
        }
        return fd;
    }

    /** Opens whatever is pinned there. */
    public static int openPinned(String path) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = BpfAttr.allocate(arena);
            attr.set(JAVA_LONG, 0, arena.allocateFrom(path).address());
            return (int) Bpf.call(BpfAttr.OBJ_GET, attr, "pinned " + path);
        }
    }

    /** The name of the inode behind a descriptor: {@code "bpf-map"}; empty for files. */
    public static String kind(int fd) throws SyscallException {
        byte[] path = ("/proc/self/fd/" + fd).getBytes(StandardCharsets.US_ASCII);
        String target =
                new String(FileCalls.readlinkat(FileCalls.AT_FDCWD, path), StandardCharsets.UTF_8);
        // "anon_inode:bpf-map"; links say "bpf_link", "[bpf_link]" or "bpf-link".
        return target.startsWith("anon_inode:")
                ? target.substring("anon_inode:".length())
                        .replace('_', '-')
                        .replaceAll("[\\[\\]]", "")
                : "";
    }

    /**
     * Reads the facts of an object.
     *
     * @param into as much of its struct bpf_*_info as wanted; what the kernel does not know stays
     *     zero. Pointers in it are where the kernel writes arrays.
     * @return bytes that the kernel has filled
     */
    public static int info(int fd, MemorySegment into, String what) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = BpfAttr.allocate(arena);
            attr.set(JAVA_INT, 0, fd);
            attr.set(JAVA_INT, 4, (int) into.byteSize());
            attr.set(JAVA_LONG, 8, into.address());
            Bpf.call(BpfAttr.OBJ_GET_INFO_BY_FD, attr, "facts of " + what);
            return attr.get(JAVA_INT, 4);
        }
    }

    /** A text that ends with NUL or with its room, at most a path long. */
    public static String text(MemorySegment from, long offset, long room) {
        long most = Math.min(Math.min(room, PATH_BYTES), from.byteSize() - offset);
        long length = 0;
        while (length < most
                && from.get(java.lang.foreign.ValueLayout.JAVA_BYTE, offset + length) != 0) {
            length++;
        }
        byte[] bytes =
                from.asSlice(offset, length).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
