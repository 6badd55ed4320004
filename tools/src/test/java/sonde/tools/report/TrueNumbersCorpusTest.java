package sonde.tools.report;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import sonde.binary.MalformedInputException;
import sonde.testkit.Shard;

/** Numbers of recordings of all formats and many kernels against each other. */
@Tag("product")
@Tag("long")
final class TrueNumbersCorpusTest {
    @TempDir Path folder;

    private static Path corpus() {
        String told = System.getProperty("sonde.corpus", System.getenv("SONDE_CORPUS"));
        Path folder =
                told != null
                        ? Path.of(told)
                        : Path.of(System.getProperty("sonde.root", "."), "../shared/corpus");
        return folder.resolve("traces");
    }

    /** Every file that may be a recording; of CTF the folders. */
    private static List<Path> recordings() throws IOException {
        List<Path> found = new ArrayList<>();
        if (Files.isDirectory(corpus())) {
            try (Stream<Path> walk = Files.walk(corpus())) {
                walk.filter(TrueNumbersCorpusTest::mayBeRecording).sorted().forEach(found::add);
            }
        }
        return found;
    }

    private static boolean mayBeRecording(Path path) {
        return Files.isDirectory(path)
                ? Files.isRegularFile(path.resolve("metadata"))
                : !Files.exists(path.resolveSibling("metadata"));
    }

    @TestFactory
    Stream<DynamicTest> numbersOfTheCorpus() throws IOException {
        List<Path> all = recordings();
        return all.isEmpty()
                ? Stream.of(DynamicTest.dynamicTest("corpus", () -> abort("none at " + corpus())))
                : Shard.of(all).stream()
                        .map(file ->
                                DynamicTest.dynamicTest(
                                        corpus().relativize(file).toString(), () -> check(file)));
    }

    private void check(Path file) throws IOException {
        SoftAssertions all = new SoftAssertions();
        try {
            NumberChecks.check(all, file, true);
            NumberChecks.conversions(all, file, Files.createTempDirectory(folder, "of"));
        } catch (MalformedInputException e) {
            abort("not read: " + e.getMessage());
        }
        all.assertAll();
    }
}
