package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sonde.testkit.BuiltPrograms;

/** Programs to be recorded, of src/test/programs; each prints lines "name value" of its own. */
final class TargetProgram {
    private TargetProgram() {}

    /** Compiles NAME.c into the folder; the test is skipped where no gcc is. */
    static Path compile(Path folder, String name, String... flags) throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/gcc")), "needs gcc");
        Path source = source(name + ".c");
        List<String> command = new ArrayList<>(List.of("gcc", "-g", "-pthread"));
        command.addAll(List.of(flags));
        command.add(source.toString());
        return BuiltPrograms.copy(
                folder.resolve(name),
                Files.readString(source),
                command,
                program -> {
                    command.addAll(List.of("-o", program.toString()));
                    Sonde.Outcome outcome = Sonde.in(folder).execute(command);
                    assertThat(outcome.status()).as("%s", outcome).isZero();
                });
    }

    static Path source(String name) {
        return Sonde.ROOT.resolve("conformance/src/test/programs").resolve(name);
    }

    /** What the program counted. */
    static Map<String, Long> said(String out) {
        Map<String, Long> values = new LinkedHashMap<>();
        for (String line : out.lines().toList()) {
            String[] words = line.split(" ");
            if (words.length == 2 && words[1].matches("\\d+")) {
                values.put(words[0], Long.parseLong(words[1]));
            }
        }
        return values;
    }
}
