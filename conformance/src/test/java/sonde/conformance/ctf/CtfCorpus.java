package sonde.conformance.ctf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The CTF traces of the corpus, which lies beside the repository or where told. */
final class CtfCorpus {
    private CtfCorpus() {}

    /** The folder, which need not exist. */
    static Path folder() {
        String told = System.getProperty("sonde.corpus", System.getenv("SONDE_CORPUS"));
        if (told != null) {
            return Path.of(told);
        }
        return Path.of(System.getProperty("sonde.root", ".")).resolve("../shared/corpus");
    }

    /** Folders with metadata. */
    static List<Path> traces() throws IOException {
        Stream<Path> all = Stream.empty();
        for (String name :
                List.of("traces/babeltrace/tests/data", "traces/tracecompass-test-traces")) {
            Path at = folder().resolve(name);
            if (Files.isDirectory(at)) {
                try (Stream<Path> walk = Files.walk(at)) {
                    List<Path> found = walk.filter(CtfCorpus::isTrace).toList();
                    all = Stream.concat(all, found.stream());
                }
            }
        }
        return all.sorted().toList();
    }

    private static boolean isTrace(Path path) {
        return Files.isRegularFile(path.resolve("metadata"));
    }
}
