package sonde.conformance.perf;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The perf.data files of the corpus, which lies beside the repository or where told. */
final class PerfCorpus {
    private PerfCorpus() {}

    /** The folder, which need not exist. */
    static Path folder() {
        String told = System.getProperty("sonde.corpus", System.getenv("SONDE_CORPUS"));
        if (told != null) {
            return Path.of(told);
        }
        return Path.of(System.getProperty("sonde.root", ".")).resolve("../shared/corpus");
    }

    /** Files that begin with perf.data's magic, of either byte order. */
    static List<Path> recordings() throws IOException {
        return files(
                        "traces/perf_data_converter/quipper/testdata",
                        "traces/perf_data_converter/testdata",
                        "traces/perfparser",
                        "traces/local-6.18")
                .stream()
                .filter(PerfCorpus::isPerfData)
                .toList();
    }

    /** Inputs that once broke another reader. */
    static List<Path> crashers() throws IOException {
        return files("traces/perf_data_converter/quipper/corpus");
    }

    private static List<Path> files(String... folders) throws IOException {
        Stream<Path> all = Stream.empty();
        for (String name : folders) {
            Path at = folder().resolve(name);
            if (Files.isDirectory(at)) {
                try (Stream<Path> walk = Files.walk(at)) {
                    all = Stream.concat(all, walk.filter(Files::isRegularFile).toList().stream());
                }
            }
        }
        return all.sorted().toList();
    }

    private static boolean isPerfData(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            String magic = new String(in.readNBytes(8), StandardCharsets.ISO_8859_1);
            return magic.equals("PERFILE2") || magic.equals("2ELIFREP");
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
