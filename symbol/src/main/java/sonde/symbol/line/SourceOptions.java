package sonde.symbol.line;

import java.util.List;
import java.util.Optional;
import sonde.symbol.files.Debuginfod;
import sonde.symbol.files.SearchFolders;

/**
 * Where to look and what to keep.
 *
 * @param folders where separate debug files may lie
 * @param cache whether tables made before may be used and new ones kept
 */
public record SourceOptions(SearchFolders folders, boolean cache) {
    /** What is usual: {@code /usr/lib/debug}, no server, and the cache. */
    public static final SourceOptions USUAL = new SourceOptions(SearchFolders.here(), true);

    /** The same without the cache. */
    public SourceOptions uncached() {
        return new SourceOptions(folders, false);
    }

    /** The same with folders of the user and servers. */
    public SourceOptions with(List<String> user, Optional<Debuginfod> servers) {
        return new SourceOptions(folders.withUser(user).withServers(servers), cache);
    }
}
