package sonde.tools.list;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.event.result.Table;
import sonde.tools.list.ListRecipe.ListOutcome;

/** Events of counters: perf's names, and those that drivers state in sysfs. */
final class ListRecipeTest {
    @TempDir Path devices;

    private void driver(String name, String... files) throws Exception {
        Path events = Files.createDirectories(devices.resolve(name).resolve("events"));
        for (int i = 0; i < files.length; i += 2) {
            Files.writeString(events.resolve(files[i]), files[i + 1] + "\n");
        }
    }

    private static List<String> rows(ListOutcome outcome) {
        Table table = (Table) outcome.result().sections().getLast();
        return table.rows().stream()
                .map(row ->
                        row.stream()
                                .map(Objects::toString)
                                .reduce((a, b) -> a + " | " + b)
                                .orElseThrow())
                .toList();
    }

    @Test
    void driversNameTheirEvents() throws Exception {
        driver("msr", "tsc", "event=0x00");
        driver(
                "power",
                "energy-pkg",
                "event=0x02",
                "energy-pkg.scale",
                "2.3283064365386962890625e-10",
                "energy-pkg.unit",
                "Joules");
        Files.createDirectories(devices.resolve("software"));
        ListOutcome outcome = new ListRecipe(devices).list("*/", false);
        assertThat(rows(outcome))
                .containsExactly(
                        "msr/tsc/ | PMU | event=0x00",
                        "power/energy-pkg/ | PMU | event=0x02; in 2.3283064365386962890625e-10"
                                + " Joules");
        assertThat(String.join(" ", outcome.result().notes())).contains("perf list metric");
    }

    @Test
    void cacheEventsAreSaidToNeedACpuDriver() throws Exception {
        ListOutcome without = new ListRecipe(devices).list("L1-icache-*", false);
        assertThat(rows(without))
                .contains(
                        "L1-icache-load-misses | hardware cache | loads of the first-level"
                                + " instruction cache that miss")
                .hasSize(4);
        assertThat(without.result().notes()).anyMatch(note -> note.contains("no counters"));
        driver("cpu");
        ListOutcome with = new ListRecipe(devices).list("cycles", false);
        assertThat(rows(with)).contains("cycles | hardware | CPU cycles");
        assertThat(with.result().notes()).noneMatch(note -> note.contains("no counters"));
    }
}
