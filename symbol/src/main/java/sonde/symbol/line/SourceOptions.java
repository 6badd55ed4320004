package sonde.symbol.line;

import java.nio.file.Path;
import java.util.List;

/**
 * Where to look and what to keep.
 *
 * @param debugFolders roots of separate debug files
 * @param cache whether tables made before may be used and new ones kept
 */
public record SourceOptions(List<Path> debugFolders, boolean cache) {
    /** What is usual: {@code /usr/lib/debug}, and the cache. */
    public static final SourceOptions USUAL =
            new SourceOptions(List.of(Path.of("/usr/lib/debug")), true);

    public SourceOptions {
        debugFolders = List.copyOf(debugFolders);
    }

    /** The same without the cache. */
    public SourceOptions uncached() {
        return new SourceOptions(debugFolders, false);
    }
}
