package sonde.tools.convert;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.store.duckdb.QueryRows;
import sonde.store.duckdb.SqlConnection;
import sonde.store.duckdb.SqlDatabase;
import sonde.symbol.files.GivenPlaces;
import sonde.testkit.RingPage;
import sonde.testkit.TraceDatBytes;
import sonde.tools.convert.ConvertRecipe.ConvertOutcome;
import sonde.tools.convert.ConvertRecipe.EventChoice;
import sonde.tools.report.ListingOptions;
import sonde.tools.report.ReportOptions;
import sonde.tools.report.StackOptions;

class ParquetExportTest {
    @TempDir Path folder;

    private Path recording() throws IOException {
        TraceDatBytes format = new TraceDatBytes(ByteOrder.BIG_ENDIAN, 4);
        RingPage first = new RingPage(ByteOrder.BIG_ENDIAN, 4, TraceDatBytes.PAGE, 5000);
        first.event(10, format.hello(7, 1, "one")).event(20, format.hello(-1, -1, "it's"));
        RingPage second = new RingPage(ByteOrder.BIG_ENDIAN, 4, TraceDatBytes.PAGE, 5000);
        second.event(15, format.hello(9, 3, ""));
        Path file = folder.resolve("trace.dat");
        return Files.write(file, format.cpu(first.toBytes()).cpu(second.toBytes()).version7(false));
    }

    private static List<List<Object>> rows(String sql) throws IOException {
        List<List<Object>> all = new ArrayList<>();
        try (SqlDatabase database = SqlDatabase.open(Map.of());
                SqlConnection connection = database.connect();
                QueryRows rows = connection.query(sql)) {
            for (int count = rows.next(); count > 0; count = rows.next()) {
                for (int row = 0; row < count; row++) {
                    List<Object> values = new ArrayList<>();
                    for (int column = 0; column < rows.columns().size(); column++) {
                        values.add(String.valueOf(rows.value(column, row)));
                    }
                    all.add(values);
                }
            }
        }
        return all;
    }

    @Test
    void allEventsInAFile() throws IOException {
        Path to = folder.resolve("all.parquet");
        ConvertTarget target = ConvertTarget.ofFile(to.toString()).orElseThrow();
        assertThat(new ConvertRecipe().convert(recording(), to, target).losses()).isEmpty();
        assertThat(rows("SELECT ts, cpu, tid, name, args FROM '" + to + "'"))
                .containsExactly(
                        row("5010", "0", "7", "\"number\":1,\"name\":\"one\"}"),
                        row("5015", "1", "9", "\"number\":3,\"name\":\"\"}"),
                        row("5030", "0", "null", "\"number\":4294967295,\"name\":\"it's\"}"));
    }

    private static List<Object> row(String ts, String cpu, String tid, String args) {
        String common = "{\"common_flags\":0,\"common_preempt_count\":0,";
        return List.of(ts, cpu, tid, "test.hello", common + args);
    }

    @Test
    void aFileForEachEventType() throws IOException {
        Path to = Files.createDirectory(folder.resolve("made"));
        new ConvertRecipe().convert(recording(), to, new ConvertTarget.Parquet(true));
        assertThat(to.toFile().list()).containsExactly("test.hello.parquet");
        String sql = "SELECT ts, number, name FROM '" + to + "/test.hello.parquet'";
        assertThat(rows(sql))
                .containsExactly(
                        List.of("5010", "1", "one"),
                        List.of("5015", "3", ""),
                        List.of("5030", "4294967295", "it's"));
    }

    /** Of what is left out nothing is lost. */
    @Test
    void lossesAreThoseOfTheRowsThatWereChosen() throws IOException {
        String text =
                """
                one 11 [000] 1.000001: 1 cpu-clock:
                \t401000 work (/bin/one)
                \t401100 main (/bin/one)

                two 12 [001] 1.000002: 1 cpu-clock:
                \t402000 other (/bin/two)

                """;
        Path from = Files.writeString(folder.resolve("script.txt"), text);
        Path to = folder.resolve("one.parquet");
        ReportOptions options =
                new ReportOptions(
                        List.of(),
                        null,
                        null,
                        Set.of(11),
                        List.of(),
                        List.of(),
                        1,
                        ListingOptions.of(Set.of(), List.of()),
                        StackOptions.DEFAULT);
        ConvertRecipe recipe = new ConvertRecipe(GivenPlaces.NONE, new EventChoice(options, false));
        ConvertOutcome outcome =
                recipe.convert(from, to, ConvertTarget.ofFile(to.toString()).orElseThrow());
        assertThat(outcome.losses()).containsExactly("1 × call chain of perf:cpu-clock");
        assertThat(rows("SELECT tid FROM '" + to + "'")).containsExactly(List.of("11"));
    }
}
