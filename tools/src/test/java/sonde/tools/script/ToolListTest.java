package sonde.tools.script;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What a new tool needs beside its script: docs/extending.md. */
class ToolListTest {
    private static final Path ROOT = Path.of(System.getProperty("sonde.root", ".."));
    private static final Path SCRIPTS = ROOT.resolve("tools/src/main/resources/sonde/tools/script");
    private static final Path TESTS = ROOT.resolve("tools/src/test/java/sonde/tools/script");

    private static List<String> files(Path folder, String ending) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(ending))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void everyScriptIsListedHasAPageAndRuns() throws IOException {
        String index = Files.readString(ROOT.resolve("docs/tools/index.md"));
        StringBuilder runs = new StringBuilder();
        for (String test : files(TESTS, "KernelTest.java")) {
            runs.append(Files.readString(TESTS.resolve(test)));
        }
        List<String> missing = new ArrayList<>();
        for (String file : files(SCRIPTS, ".bt")) {
            String name = file.replaceFirst("\\..*", "");
            if (!ScriptTool.names().contains(name)) {
                missing.add(file + ": its line in names.txt");
                continue;
            }
            String summary = ScriptTool.find(name).orElseThrow().summary();
            if (!Files.exists(ROOT.resolve("docs/tools/" + name + ".md"))) {
                missing.add(file + ": the page docs/tools/" + name + ".md");
            }
            String row = "| [" + name + "](" + name + ".md) | " + summary + " |";
            if (!index.contains(row)) {
                missing.add(file + ": the row '" + row + "' in docs/tools/index.md");
            }
            if (!Pattern.compile("\"" + name + "\\b").matcher(runs).find()) {
                missing.add(file + ": a run in one of the classes *ToolsKernelTest");
            }
        }
        assertThat(missing).as("missing for a tool").isEmpty();
        assertThat(ScriptTool.names()).isSorted().doesNotHaveDuplicates();
    }
}
