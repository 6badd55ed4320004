package sonde.sys;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Memory mappings. A segment made here is not bound to an arena: the maker unmaps it. */
public final class MemoryMappings {
    public static final int PROT_NONE = 0;
    public static final int PROT_READ = 1;
    public static final int PROT_WRITE = 2;
    public static final int MAP_SHARED = 1;
    public static final int MAP_PRIVATE = 2;
    public static final int MAP_ANONYMOUS = 0x20;
    public static final int MAP_POPULATE = 0x8000;

    /** At the address that is given, or EEXIST where something is there (Linux 4.17). */
    public static final int MAP_FIXED_NOREPLACE = 0x10_0000;

    /** Advice of madvise(2). */
    public static final int MADV_SEQUENTIAL = 2;

    public static final int MADV_WILLNEED = 3;
    public static final int MADV_DONTNEED = 4;

    private static final int MMAP = SyscallNames.number("mmap");
    private static final int MUNMAP = SyscallNames.number("munmap");
    private static final int MADVISE = SyscallNames.number("madvise");

    private MemoryMappings() {}

    /**
     * Maps part of a file.
     *
     * @param offset in the file, a multiple of the page size
     * @return a segment over the mapping, usable by every thread until {@link #unmap}; touching it
     *     afterwards, or beyond the end of a file that shrank, kills the JVM
     */
    public static MemorySegment map(int fd, long offset, long sizeBytes, int prot, int flags)
            throws SyscallException {
        return mapAt(0, fd, offset, sizeBytes, prot, flags);
    }

    private static MemorySegment mapAt(
            long at, int fd, long offset, long sizeBytes, int prot, int flags)
            throws SyscallException {
        long address = NativeSyscall.syscall(MMAP, at, sizeBytes, prot, flags, fd, offset);
        if (address < 0) {
            throw new SyscallException(
                    "mmap", "fd " + fd + ", " + sizeBytes + " bytes", (int) -address);
        }
        return MemorySegment.ofAddress(address).reinterpret(sizeBytes);
    }

    /**
     * As {@link #map(int, long, long, int, int)}, taken back when the arena is closed; touching it
     * afterwards is an exception.
     */
    public static MemorySegment map(
            Arena arena, int fd, long offset, long sizeBytes, int prot, int flags)
            throws SyscallException {
        return owned(arena, map(fd, offset, sizeBytes, prot, flags));
    }

    /**
     * Maps a whole file where its bytes refer to each other by address.
     *
     * @param at the address, a multiple of the page size
     */
    public static MemorySegment mapAt(
            Arena arena, long at, int fd, long sizeBytes, int prot, int flags)
            throws SyscallException {
        return owned(arena, mapAt(at, fd, 0, sizeBytes, prot, flags | MAP_FIXED_NOREPLACE));
    }

    private static MemorySegment owned(Arena arena, MemorySegment mapping) {
        return mapping.reinterpret(
                arena,
                closed -> NativeSyscall.syscall(MUNMAP, closed.address(), closed.byteSize(), 0));
    }

    /** Takes back a mapping as {@link #map(int, long, long, int, int)} gave it. */
    public static void unmap(MemorySegment mapping) throws SyscallException {
        SyscallResults.check(
                "munmap",
                mapping.byteSize() + " bytes",
                NativeSyscall.syscall(MUNMAP, mapping.address(), mapping.byteSize(), 0));
    }

    /** Advises the kernel about a page-aligned part of a mapping. */
    public static void advise(MemorySegment mapping, int advice) throws SyscallException {
        SyscallResults.check(
                "madvise",
                mapping.byteSize() + " bytes",
                NativeSyscall.syscall(MADVISE, mapping.address(), mapping.byteSize(), advice));
    }
}
