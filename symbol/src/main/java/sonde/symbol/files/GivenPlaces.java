package sonde.symbol.files;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Where the user said that symbols are.
 *
 * @param folders sysroots, build trees, folders of debug files; asked before all others
 * @param vmlinux the image of the kernel that ran; empty to search
 * @param servers asked last; empty when there are none
 */
public record GivenPlaces(
        List<String> folders, Optional<Path> vmlinux, Optional<Debuginfod> servers) {
    /** Nothing was said. */
    public static final GivenPlaces NONE =
            new GivenPlaces(List.of(), Optional.empty(), Optional.empty());

    public GivenPlaces {
        folders = List.copyOf(folders);
    }

    /** Whether the user named files or folders. */
    public boolean hasFiles() {
        return !folders.isEmpty() || vmlinux.isPresent();
    }
}
