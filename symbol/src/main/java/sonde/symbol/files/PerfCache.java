package sonde.symbol.files;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * The files that perf kept of what it recorded: {@code ~/.debug/.build-id/xx/yyyy} has {@code elf},
 * {@code debug}, {@code kallsyms} (tools/perf/util/build-id.c).
 */
public final class PerfCache {
    private PerfCache() {}

    /**
     * A file of a build.
     *
     * @param name of the file in the folder of the build
     * @return empty when perf did not keep it
     */
    public static Optional<Path> file(byte[] buildId, String name) {
        return file(List.of(), buildId, name);
    }

    /**
     * As above.
     *
     * @param folders that may be such a cache, too: what perf archive packed; asked first
     */
    public static Optional<Path> file(List<String> folders, byte[] buildId, String name) {
        if (buildId.length < 2) {
            return Optional.empty();
        }
        String id = HexFormat.of().formatHex(buildId);
        List<String> all = new ArrayList<>(folders);
        all.add(System.getProperty("user.home", "/") + "/.debug");
        return all.stream()
                .map(folder -> Path.of(folder + DebugFileCandidates.idName(id, "/" + name)))
                .filter(Files::isRegularFile)
                .findFirst();
    }
}
