package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tables among the resources of all modules. */
final class ResourceTableTest {
    private static final Path ROOT = Path.of(System.getProperty("sonde.root", "..")).normalize();

    private static List<Path> tables() throws IOException {
        List<Path> tables = new ArrayList<>();
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path module : modules.toList()) {
                Path resources = module.resolve("src/main/resources");
                if (Files.isDirectory(resources)) {
                    try (Stream<Path> files = Files.walk(resources)) {
                        files.filter(file -> file.toString().endsWith(".txt")).forEach(tables::add);
                    }
                }
            }
        }
        // The names of our own scripts.
        tables.removeIf(file -> file.endsWith("script/names.txt"));
        return tables;
    }

    @Test
    void everyTableSaysWhereItComesFrom() throws IOException {
        assertThat(tables()).hasSizeGreaterThan(9);
        for (Path table : tables()) {
            String header =
                    Files.readString(table)
                            .lines()
                            .takeWhile(line -> line.startsWith("#"))
                            .reduce("", (all, line) -> all + line.substring(1));
            assertThat(header).as(table.toString()).contains("Source: ");
            String source = header.substring(header.indexOf("Source: "));
            assertThat(source).as("version in " + table).containsPattern("[0-9]");
        }
    }
}
