package sonde.open.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Every reader reads its seeds, and reads or refuses what the fuzzer once found: the files of
 * {@code src/test/resources/fuzz/READER}.
 */
class FuzzReplayTest {
    private static final Duration LONG = Duration.ofSeconds(20);

    @TestFactory
    List<DynamicTest> seedsAreRead() {
        List<DynamicTest> tests = new ArrayList<>();
        for (FuzzReader reader : FuzzReader.values()) {
            List<byte[]> seeds = reader.seeds();
            assertThat(seeds).as(reader.label()).isNotEmpty();
            for (byte[] seed : seeds) {
                tests.add(
                        DynamicTest.dynamicTest(
                                reader.label(),
                                () -> assertThat(FuzzTarget.isRead(reader, seed)).isTrue()));
            }
        }
        return tests;
    }

    @TestFactory
    List<DynamicTest> whatWasFoundIsReadOrRefused() throws IOException {
        List<DynamicTest> tests = new ArrayList<>();
        for (FuzzReader reader : FuzzReader.values()) {
            for (Path file : files(Path.of("src/test/resources/fuzz", reader.label()))) {
                byte[] bytes = Files.readAllBytes(file);
                tests.add(
                        DynamicTest.dynamicTest(
                                reader.label() + " " + file.getFileName(),
                                () ->
                                        Assertions.assertTimeoutPreemptively(
                                                LONG, () -> FuzzTarget.isRead(reader, bytes))));
            }
            tests.add(
                    DynamicTest.dynamicTest(
                            reader.label() + " of nothing",
                            () -> FuzzTarget.isRead(reader, new byte[0])));
        }
        return tests;
    }

    private static List<Path> files(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.sorted().toList();
        }
    }
}
