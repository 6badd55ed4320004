package sonde.symbol.files;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import sonde.sys.TargetFile;

/**
 * A name under which a file may lie.
 *
 * @param root folder that is the root for the path, {@code /proc/PID/root}; null for our own
 * @param path absolute, or relative to our own working folder
 * @param isTrusted whether user or system named it, so that symbolic links are followed; else the
 *     name came from a traced process
 */
public record FilePlace(@Nullable String root, String path, boolean isTrusted) {
    /** Chromium's debug file has about 4 GB; holes are not read, so this bounds only the map. */
    private static final long SIZE_LIMIT = 16L << 30;

    /** A path that the user or the system named. */
    public static FilePlace named(String path) {
        return new FilePlace(null, path, true);
    }

    /** A path that a process or a recording named. */
    public static FilePlace claimed(String path) {
        return new FilePlace(null, path, false);
    }

    /** A path as a process sees it. */
    public static FilePlace in(String root, String path) {
        return new FilePlace(root, path, false);
    }

    /** Another path in the same root, trusted as this one is. */
    FilePlace other(String otherPath) {
        return new FilePlace(root, otherPath, isTrusted);
    }

    /** The path as we see it. */
    public String shown() {
        return root == null ? path : root + path;
    }

    /** The folder of the path with its final slash; empty when it has none. */
    String folder() {
        return path.substring(0, path.lastIndexOf('/') + 1);
    }

    /** The last part of the path. */
    String name() {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /**
     * Opens the file.
     *
     * @throws IOException when it is not there, no regular file, or larger than 16 GiB
     */
    public TargetFile open() throws IOException {
        if (root != null) {
            return TargetFile.openIn(root, path, SIZE_LIMIT);
        }
        return isTrusted
                ? TargetFile.openTrusted(path, SIZE_LIMIT)
                : TargetFile.open(path, SIZE_LIMIT);
    }
}
