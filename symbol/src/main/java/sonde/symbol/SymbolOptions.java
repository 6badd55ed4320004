package sonde.symbol;

import java.util.List;
import java.util.Optional;
import sonde.symbol.files.Debuginfod;
import sonde.symbol.files.GivenPlaces;
import sonde.symbol.files.SearchFolders;

/**
 * Where symbols may be looked for.
 *
 * @param folders given by the user: a sysroot, a build tree, a folder of debug files; asked first
 * @param debugFolders system folders of separate debug files, with a {@code .build-id} in them
 * @param sameMachine whether the recording was made on this machine since it was started, so that
 *     its paths and process numbers mean what they meant; else only files whose build-id is equal
 *     are used
 * @param recordedAtNanos when recording began, since 1970; a file without a build-id that changed
 *     later is not used. 0 when not known
 * @param servers asked last; empty when the user named none
 */
public record SymbolOptions(
        List<String> folders,
        List<String> debugFolders,
        boolean sameMachine,
        long recordedAtNanos,
        Optional<Debuginfod> servers) {
    public SymbolOptions {
        folders = List.copyOf(folders);
        debugFolders = List.copyOf(debugFolders);
    }

    /** Without servers. */
    public SymbolOptions(
            List<String> folders,
            List<String> debugFolders,
            boolean sameMachine,
            long recordedAtNanos) {
        this(folders, debugFolders, sameMachine, recordedAtNanos, Optional.empty());
    }

    /** A recording of this machine that has just been made. */
    public static SymbolOptions here() {
        return new SymbolOptions(List.of(), List.of("/usr/lib/debug"), true, 0);
    }

    /** The same with what the user said. */
    public SymbolOptions with(GivenPlaces given) {
        return new SymbolOptions(
                given.folders(), debugFolders, sameMachine, recordedAtNanos, given.servers());
    }

    /** The same places for a search of files. */
    public SearchFolders search() {
        return new SearchFolders(folders, debugFolders, null, sameMachine, servers);
    }
}
