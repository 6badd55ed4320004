package sonde.tools.explain;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.binary.Input;
import sonde.binary.archive.UnwrapLimits;
import sonde.binary.archive.UnwrappedFiles;
import sonde.event.result.Listing.ListingForm;
import sonde.tools.explain.ExplainRecipe.ExplainOptions;
import sonde.tools.explain.ExplainRecipe.LogSource;

/**
 * Consoles of healthy machines: Debian's 6.1.0-56 and 6.12.117 with 31 sets of devices and boot
 * parameters, suspends, modules, memory that runs out in a cgroup, and programs that crash.
 */
class HealthyLogsTest {
    private static final Pattern CLASS = Pattern.compile("\"class\":\"([\\w-]+)\"");

    @Test
    void noneOfThemHasAFaultOfTheKernel(@TempDir Path folder) throws IOException {
        Path logs = folder.resolve("healthy.tar.xz");
        try (InputStream in = HealthyLogsTest.class.getResourceAsStream("healthy.tar.xz")) {
            assertThat(in).isNotNull();
            Files.copy(in, logs);
        }
        try (UnwrappedFiles files = UnwrappedFiles.of(Input.open(logs), UnwrapLimits.DEFAULT)) {
            assertThat(files.inputs()).hasSizeGreaterThanOrEqualTo(60);
        }
        ExplainRecipe recipe = new ExplainRecipe(ExplainOptions.USUAL, null);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        recipe.of(List.of(new LogSource("logs", logs, null)))
                .rows()
                .writeTo(out, ListingForm.JSON_LINES);
        Set<String> classes =
                CLASS.matcher(out.toString(StandardCharsets.UTF_8))
                        .results()
                        .map((MatchResult found) -> found.group(1))
                        .collect(Collectors.toSet());
        assertThat(recipe.faults()).isZero();
        assertThat(recipe.notices()).isGreaterThan(55);
        assertThat(recipe.notes()).isEmpty();
        assertThat(classes).containsExactlyInAnyOrder("user-fault", "oom-kill");
    }
}
