package sonde.view;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Files of expected text; {@code -Dsonde.test.jvm=-Dsonde.golden=write} writes them anew. */
final class Golden {
    private Golden() {}

    static void check(String name, String actual) throws IOException {
        Path root = Path.of(System.getProperty("sonde.root", ".."));
        Path file = root.resolve("view/src/test/resources/sonde/view").resolve(name);
        if ("write".equals(System.getProperty("sonde.golden"))) {
            Files.createDirectories(file.getParent());
            Files.writeString(file, actual);
        }
        assertThat(actual).as("%s", file).isEqualTo(Files.readString(file));
    }
}
