package sonde.symbol;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An executable mapping as PERF_RECORD_MMAP2 or a line of /proc/PID/maps states it.
 *
 * @param start first address, as running
 * @param lengthBytes size
 * @param fileOffset offset in the file of the byte at {@code start}
 * @param path as the kernel gives it: a file, {@code [vdso]}, {@code //anon}, empty
 * @param buildId of the file, empty when not known
 * @param device major in the upper, minor in the lower 32 bits; 0 when not known
 * @param inode 0 when not known
 */
public record CodeMapping(
        long start,
        long lengthBytes,
        long fileOffset,
        String path,
        byte[] buildId,
        long device,
        long inode) {
    private static final byte[] UNKNOWN = {};

    /** A mapping of which only the path is known. */
    public CodeMapping(long start, long lengthBytes, long fileOffset, String path) {
        this(start, lengthBytes, fileOffset, path, UNKNOWN, 0, 0);
    }

    /** The build-id in hexadecimal, empty when not known. */
    public String buildIdHex() {
        return HexFormat.of().formatHex(buildId);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof CodeMapping m
                && start == m.start
                && lengthBytes == m.lengthBytes
                && fileOffset == m.fileOffset
                && path.equals(m.path)
                && Arrays.equals(buildId, m.buildId)
                && device == m.device
                && inode == m.inode;
    }

    @Override
    public int hashCode() {
        return Objects.hash(start, lengthBytes, fileOffset, path, device, inode);
    }
}
