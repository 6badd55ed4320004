package sonde.symbol.line;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import sonde.symbol.files.FileCache;
import sonde.symbol.files.FileCache.CacheKind;
import sonde.sys.TargetFile;

/** Tables on disk, a file each by build-id: {@code $XDG_CACHE_HOME/sonde/symbols/ID.lines}. */
final class TableCache {
    private static final CacheKind KIND = new CacheKind("symbols", ".lines", 2L << 30);

    private final FileCache files;

    private TableCache(FileCache files) {
        this.files = files;
    }

    /** The user's; null when there is no folder that may be used. */
    static @Nullable TableCache ofUser() {
        FileCache files = FileCache.ofUser(KIND);
        return files == null ? null : new TableCache(files);
    }

    /** In a folder, made if need be; null when it may not be used. */
    static @Nullable TableCache of(Path folder) {
        FileCache files = FileCache.of(folder, KIND);
        return files == null ? null : new TableCache(files);
    }

    /** Tables of a file, open. */
    record CachedTables(TargetFile file, LineTables tables) {}

    /** What is kept for a build-id; null when there is nothing, or it is damaged or not ours. */
    @Nullable CachedTables find(String buildId, long fingerprint) {
        TargetFile file = files.find(buildId);
        if (file == null) {
            return null;
        }
        try {
            return new CachedTables(file, LineTables.of(file.bytes().asByteBuffer(), fingerprint));
        } catch (IOException | InternalError e) {
            files.remove(buildId);
            file.close();
            return null;
        }
    }

    /** Keeps tables; where that fails they are made again next time. */
    void keep(String buildId, LineTables tables) {
        files.keep(buildId, tables.bytes());
    }
}
