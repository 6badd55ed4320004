package sonde.sys;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/**
 * What statfs(2) says of a file system (struct statfs, asm-generic, 64-bit).
 *
 * @param type magic number, {@code 0x74726163} for tracefs
 * @param availableBlocks free blocks an unprivileged user may take
 */
public record FsStatus(
        long type, long blockBytes, long blocks, long freeBlocks, long availableBlocks) {
    /** Magic numbers (include/uapi/linux/magic.h). */
    public static final long TRACEFS_MAGIC = 0x74726163L;

    public static final long BPF_FS_MAGIC = 0xcafe4a11L;
    public static final long SYSFS_MAGIC = 0x62656572L;
    public static final long PROC_SUPER_MAGIC = 0x9fa0L;
    public static final long TMPFS_MAGIC = 0x01021994L;

    /** {@code sizeof(struct statfs)}. */
    static final long SIZE = 120;

    static FsStatus of(MemorySegment statfs) {
        return new FsStatus(
                statfs.get(JAVA_LONG, 0),
                statfs.get(JAVA_LONG, 8),
                statfs.get(JAVA_LONG, 16),
                statfs.get(JAVA_LONG, 24),
                statfs.get(JAVA_LONG, 32));
    }

    /** Bytes an unprivileged user may still write. */
    public long availableBytes() {
        return availableBlocks * blockBytes;
    }
}
