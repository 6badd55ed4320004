package sonde.tools.report.section;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.event.result.CallTree;
import sonde.event.result.Column;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.open.ReportSource;
import sonde.testkit.PerfDataBytes;
import sonde.testkit.ProfileTexts;
import sonde.tools.report.ReportOptions;
import sonde.tools.report.ReportRecipe;

final class HotFunctionsTest {
    @TempDir Path folder;

    private List<Result> onCpu(byte[] file) throws IOException {
        Path path = Files.write(folder.resolve("file"), file);
        try (ReportSource source = ReportSource.open(path)) {
            ReportOptions options = ReportOptions.of(ReportSections.named("oncpu"));
            return new ReportRecipe(options).run(source).sections();
        }
    }

    private static @Nullable Object cell(Table table, String function, String column) {
        List<String> names = table.columns().stream().map(Column::name).toList();
        return table.rows().stream()
                .filter(row -> function.equals(row.get(names.indexOf("function"))))
                .map(row -> row.get(names.indexOf(column)))
                .findFirst()
                .orElseThrow();
    }

    /** Cycles with a frequency: the kernel adapts the period, so samples do not weigh the same. */
    @Test
    void sharesAreOfTheWeight() throws IOException {
        PerfDataBytes file = new PerfDataBytes(ByteOrder.LITTLE_ENDIAN);
        file.event(file.attr(0, 0, 1 | 2 | 4 | 32 | 256, 0, 1L << 18), 1);
        for (String name : List.of("one", "two")) {
            long start = name.equals("one") ? 0x400000 : 0x500000;
            PerfDataBytes.Fields map = file.fields().u32(100).u32(100).u64(start, 0x10000, 0);
            map.u32(8).u32(1).u64(start, 0).u32(5).u32(2).text("/sonde-test/" + name, 16);
            file.record(10, 2, map.u32(100).u32(100).u64(1));
        }
        long[] periods = {1_000, 1_000, 1_000, 9_000};
        for (int i = 0; i < periods.length; i++) {
            long ip = i < 3 ? 0x401000 : 0x501000;
            PerfDataBytes.Fields body = file.fields().u64(ip).u32(100).u32(100).u64(10 + i);
            file.record(9, 2, body.u64(periods[i]).u64(2).u64(-512, ip));
        }
        List<Result> results = onCpu(file.file());
        Table table = (Table) results.get(0);
        assertThat(cell(table, "[two+0x1000]", "share")).isEqualTo(0.75);
        assertThat(cell(table, "[two+0x1000]", "samples")).isEqualTo(1L);
        assertThat(cell(table, "[one+0x1000]", "share")).isEqualTo(0.25);
        assertThat(cell(table, "[one+0x1000]", "samples")).isEqualTo(3L);
        assertThat(((CallTree) results.get(1)).root().total()).isEqualTo(12_000);
    }

    @Test
    void callgrindHasInclusiveCosts() throws IOException {
        byte[] file = ProfileTexts.CALLGRIND.getBytes(StandardCharsets.UTF_8);
        Table table = (Table) onCpu(file).getFirst();
        assertThat(cell(table, "main", "Ir")).isEqualTo(15L);
        assertThat(cell(table, "main", "with callees")).isEqualTo(1.0);
        assertThat(cell(table, "leaf", "Ir")).isEqualTo(30L);
        assertThat((Double) cell(table, "leaf", "with callees")).isBetween(0.666, 0.667);
    }
}
