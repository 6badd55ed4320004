package sonde.sys;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;

/**
 * What statx(2) says of a file (struct statx, include/uapi/linux/stat.h).
 *
 * @param mode type and permission bits, as in {@code st_mode}
 * @param deviceMajor device the file lies on
 * @param modifiedNanos time of last content change, nanoseconds since 1970
 * @param changedNanos time of last status change, nanoseconds since 1970
 */
public record FileStatus(
        int mode,
        int links,
        int uid,
        int gid,
        long inode,
        long sizeBytes,
        long blocks512,
        int deviceMajor,
        int deviceMinor,
        long modifiedNanos,
        long changedNanos) {
    /** Mask of the file type in {@link #mode}. */
    public static final int S_IFMT = 0170000;

    public static final int S_IFSOCK = 0140000;
    public static final int S_IFLNK = 0120000;
    public static final int S_IFREG = 0100000;
    public static final int S_IFBLK = 0060000;
    public static final int S_IFDIR = 0040000;
    public static final int S_IFCHR = 0020000;
    public static final int S_IFIFO = 0010000;

    /** {@code sizeof(struct statx)}. */
    static final long SIZE = 256;

    static FileStatus of(MemorySegment statx) {
        return new FileStatus(
                Short.toUnsignedInt(statx.get(JAVA_SHORT, 28)),
                statx.get(JAVA_INT, 16),
                statx.get(JAVA_INT, 20),
                statx.get(JAVA_INT, 24),
                statx.get(JAVA_LONG, 32),
                statx.get(JAVA_LONG, 40),
                statx.get(JAVA_LONG, 48),
                statx.get(JAVA_INT, 136),
                statx.get(JAVA_INT, 140),
                nanos(statx, 112),
                nanos(statx, 96));
    }

    /** struct statx_timestamp: s64 seconds, u32 nanoseconds. */
    private static long nanos(MemorySegment statx, long offset) {
        return statx.get(JAVA_LONG, offset) * 1_000_000_000L + statx.get(JAVA_INT, offset + 8);
    }

    /** The device as one number: major in the upper, minor in the lower 32 bits. */
    public long device() {
        return (long) deviceMajor << 32 | Integer.toUnsignedLong(deviceMinor);
    }

    /**
     * Whether a status and a mapping mean one file. File systems in layers (overlayfs, btrfs) state
     * another device to mappings, and overlayfs puts the layer into the upper bits of the inode.
     */
    public static boolean isSameInode(boolean sameDevice, long inode, long mapped) {
        return sameDevice ? inode == mapped : (int) inode == (int) mapped;
    }

    /** True for a regular file. */
    public boolean isRegular() {
        return (mode & S_IFMT) == S_IFREG;
    }

    /** True for a directory. */
    public boolean isDirectory() {
        return (mode & S_IFMT) == S_IFDIR;
    }

    /** True for a symbolic link. */
    public boolean isLink() {
        return (mode & S_IFMT) == S_IFLNK;
    }

    /** Whether it is a character or a block device. */
    public boolean isDevice() {
        int kind = mode & S_IFMT;
        return kind == S_IFCHR || kind == S_IFBLK;
    }

    /** The kind in words, for messages: {@code "a FIFO"}. */
    public String kind() {
        return switch (mode & S_IFMT) {
            case S_IFSOCK -> "a socket";
            case S_IFLNK -> "a symbolic link";
            case S_IFREG -> "a regular file";
            case S_IFBLK -> "a block device";
            case S_IFDIR -> "a directory";
            case S_IFCHR -> "a character device";
            case S_IFIFO -> "a FIFO";
            default -> "a file of unknown type";
        };
    }
}
