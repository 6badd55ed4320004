package sonde.symbol.files;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Where to look.
 *
 * @param user folders that the user gave, asked first: a sysroot, the output of Buildroot or Yocto,
 *     a build tree, a folder of debug files
 * @param system folders of separate debug files with a {@code .build-id} in them
 * @param bundle folder of the recording with files of its own; null for none
 * @param isHere whether paths mean what they mean on this machine, so that the folder of a binary
 *     and those of this kernel may be looked into; else only what has the right build-id counts
 * @param servers asked last; empty when the user named none
 */
public record SearchFolders(
        List<String> user,
        List<String> system,
        @Nullable String bundle,
        boolean isHere,
        Optional<Debuginfod> servers) {
    private static final String SYSTEM = "/usr/lib/debug";

    public SearchFolders {
        user = List.copyOf(user);
        system = List.copyOf(system);
    }

    /** This machine's {@code /usr/lib/debug}, no folder of the user, no server. */
    public static SearchFolders here() {
        return new SearchFolders(List.of(), List.of(SYSTEM), null, true, Optional.empty());
    }

    /** The same with these folders of the user. */
    public SearchFolders withUser(List<String> folders) {
        return new SearchFolders(folders, system, bundle, isHere, servers);
    }

    /** The same with these servers. */
    public SearchFolders withServers(Optional<Debuginfod> others) {
        return new SearchFolders(user, system, bundle, isHere, others);
    }

    /** Folders of the user, then those of the system. */
    List<String> all() {
        List<String> all = new ArrayList<>(user);
        all.addAll(system);
        return all;
    }
}
