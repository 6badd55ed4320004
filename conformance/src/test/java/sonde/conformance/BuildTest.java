package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./sonde} in a copy of the checkout shows each change of a source at once. */
@Tag("product")
@Tag("long")
class BuildTest {
    private static final String MAIN = "cli/src/main/java/sonde/cli/Main.java";
    private static final String GREETING = "cli/src/main/java/sonde/cli/Greeting.java";
    private static final String SCRIPT = "tools/src/main/resources/sonde/tools/script/argdist.bt";

    @TempDir Path folder;

    private Sonde.Outcome sonde(String... words) throws Exception {
        return Sonde.in(folder)
                .execute(
                        Stream.concat(
                                        Stream.of(folder.resolve("checkout/sonde").toString()),
                                        Stream.of(words))
                                .toList());
    }

    private void replace(String file, String before, String after) throws IOException {
        Path path = folder.resolve("checkout").resolve(file);
        String text = Files.readString(path);
        assertThat(text).contains(before);
        Files.writeString(path, text.replace(before, after));
    }

    @Test
    void everyChangeIsSeen() throws Exception {
        // The libraries and the runtime image are not made anew.
        String copy =
                """
                mkdir checkout && cd '%s' &&
                cp -a --parents -t '%s/checkout' sonde pom.xml launcher */src/main build/deps \
                    build/image build/libduckdb-* build/modern-*
                """;
        List<String> command = List.of("sh", "-c", copy.formatted(Sonde.ROOT, folder));
        assertThat(Sonde.in(folder).execute(command).status()).isZero();
        assertThat(sonde("--version").out()).isEqualTo("sonde 0.1.0\n");

        replace(MAIN, "VERSION = \"0.1.0\"", "VERSION = \"9.1.0\"");
        assertThat(sonde("--version").out()).isEqualTo("sonde 9.1.0\n");

        replace(MAIN, "\"sonde \" + VERSION", "Greeting.of() + VERSION");
        Sonde.Outcome broken = sonde("--version");
        assertThat(broken.status()).isEqualTo(3);
        assertThat(broken.err()).contains("Main.java", "Greeting", "the build failed");

        Path greeting = folder.resolve("checkout").resolve(GREETING);
        Files.writeString(
                greeting,
                "package sonde.cli; class Greeting { static String of() { return \"v\"; } }");
        assertThat(sonde("--version").out()).isEqualTo("v9.1.0\n");

        replace(GREETING, "static String of", "static Object of");
        assertThat(sonde("--version").out()).isEqualTo("v9.1.0\n");

        Files.delete(greeting);
        assertThat(sonde("--version").status()).isEqualTo(3);
        replace(MAIN, "Greeting.of() + VERSION", "\"sonde \" + VERSION");
        assertThat(sonde("--version").out()).isEqualTo("sonde 9.1.0\n");

        replace(SCRIPT, "argdist: values at a probe", "argdist: another text");
        assertThat(sonde("tool", "argdist", "--script").out()).contains("another text");
    }
}
