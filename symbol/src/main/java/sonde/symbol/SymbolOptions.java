package sonde.symbol;

import java.util.List;

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
 */
public record SymbolOptions(
        List<String> folders,
        List<String> debugFolders,
        boolean sameMachine,
        long recordedAtNanos) {
    public SymbolOptions {
        folders = List.copyOf(folders);
        debugFolders = List.copyOf(debugFolders);
    }

    /** A recording of this machine that has just been made. */
    public static SymbolOptions here() {
        return new SymbolOptions(List.of(), List.of("/usr/lib/debug"), true, 0);
    }
}
