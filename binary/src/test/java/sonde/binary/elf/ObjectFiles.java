package sonde.binary.elf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Objects that the compilers of this machine make, for tests. */
final class ObjectFiles {
    static final String SOURCE =
            """
            struct pair { int left; char right; };
            int counter;
            int first_function(struct pair *p)
            {
                return p->left + counter;
            }
            int second_function(struct pair *p)
            {
                counter++;
                return first_function(p) * 2;
            }
            """;

    /** Line of the source where {@code second_function} begins its work. */
    static final int SECOND_LINE = 9;

    private ObjectFiles() {}

    /** Compiles; skips the test where that compiler is not there or has not that target. */
    static Path compile(Path folder, String name, String... command)
            throws IOException, InterruptedException {
        Files.writeString(folder.resolve("p.c"), SOURCE);
        List<String> words = new ArrayList<>(List.of(command));
        words.addAll(List.of("-o", name, "p.c"));
        String said = run(folder, words);
        assumeTrue(Files.exists(folder.resolve(name)), said);
        return folder.resolve(name);
    }

    /** What a command printed; skips the test where the program is not there. */
    static String run(Path folder, List<String> command) throws IOException, InterruptedException {
        boolean there =
                List.of("/usr/bin/", "/bin/").stream()
                        .anyMatch(path -> Files.isExecutable(Path.of(path + command.getFirst())));
        assumeTrue(there, "no " + command.getFirst());
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true);
        builder.environment().put("LC_ALL", "C");
        Process process = builder.start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return text;
    }

    /** As {@link #run}, and it must succeed. */
    static void must(Path folder, String... command) throws IOException, InterruptedException {
        Process process =
                new ProcessBuilder(command)
                        .directory(folder.toFile())
                        .redirectErrorStream(true)
                        .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
    }
}
