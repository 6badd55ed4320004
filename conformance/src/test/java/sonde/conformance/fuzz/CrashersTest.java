package sonde.conformance.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Files on which a reader once failed: found by {@code conformance/fuzz}, made small. */
final class CrashersTest {
    private static Path folder() {
        String root = System.getProperty("sonde.root", "..");
        return Path.of(root, "conformance/src/test/resources/crashers");
    }

    private static List<Path> crashers() throws IOException {
        try (Stream<Path> files = Files.list(folder())) {
            return files.sorted().toList();
        }
    }

    @Test
    void thereAreSome() throws IOException {
        assertThat(crashers()).isNotEmpty();
    }

    /** Any exception but those that {@link ReaderTarget} knows fails. */
    @ParameterizedTest
    @MethodSource("crashers")
    @Timeout(20)
    void isReadOrRefused(Path file) throws IOException {
        boolean read = ReaderTarget.list(file);
        assertThat(read).isEqualTo(!file.toString().endsWith(".refused"));
    }
}
