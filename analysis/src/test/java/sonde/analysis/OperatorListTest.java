package sonde.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What a new operator needs beside its code: docs/extending.md. */
class OperatorListTest {
    private static final Path ROOT = Path.of(System.getProperty("sonde.root", ".."));
    private static final Pattern OPERATOR =
            Pattern.compile("class \\w+\\s+implements [^{]*\\b(Operator|Mergeable|StateSlices)\\b");

    /** Tested by whole reports and queries of recordings of their kind. */
    private static final Set<String> TESTED_BY_REPORTS =
            Set.of("CounterSummary", "EventMarks", "NamedSlices", "PacketFlows", "WaitCauses");

    private static List<Path> sources(String folder) throws IOException {
        try (Stream<Path> walk = Files.walk(ROOT.resolve(folder))) {
            return walk.filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> !file.endsWith("OperatorListTest.java"))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void everyOperatorHasATest() throws IOException {
        StringBuilder tests = new StringBuilder();
        for (Path test : sources("analysis/src/test/java")) {
            tests.append(Files.readString(test));
        }
        List<String> missing = new ArrayList<>();
        for (Path source : sources("analysis/src/main/java")) {
            String name = source.getFileName().toString().replace(".java", "");
            boolean isOperator = OPERATOR.matcher(Files.readString(source)).find();
            boolean isTested = Pattern.compile("\\b" + name + "\\b").matcher(tests).find();
            if (isOperator && !isTested && !TESTED_BY_REPORTS.contains(name)) {
                missing.add(name + ": a test in analysis/src/test, with rows by Script");
            }
        }
        assertThat(missing).as("missing for an operator").isEmpty();
    }
}
