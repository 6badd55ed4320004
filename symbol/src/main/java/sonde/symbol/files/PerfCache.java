package sonde.symbol.files;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
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
        if (buildId.length < 2) {
            return Optional.empty();
        }
        String id = HexFormat.of().formatHex(buildId);
        Path home = Path.of(System.getProperty("user.home", "/"));
        Path file = home.resolve(".debug" + Candidates.idName(id, "/" + name));
        return Files.isRegularFile(file) ? Optional.of(file) : Optional.empty();
    }
}
