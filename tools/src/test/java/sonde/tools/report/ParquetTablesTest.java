package sonde.tools.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.binary.MalformedInputException;
import sonde.open.ReportSource;
import sonde.testkit.PerfDataBytes;
import sonde.testkit.Property;
import sonde.testkit.RingPage;
import sonde.testkit.TraceDatBytes;
import sonde.tools.convert.ConvertRecipe;
import sonde.tools.convert.ConvertTarget;
import sonde.tools.query.OutputFormat;
import sonde.tools.query.QueryRecipe;

/** What is written as Parquet is a recording again. */
class ParquetTablesTest {
    private static final String ROWS =
            "SELECT ts, cpu, tid, number, name FROM \"test.hello\" ORDER BY ts";

    @TempDir Path folder;
    private Path source = Path.of("trace.dat");

    @BeforeEach
    void record() throws IOException {
        TraceDatBytes format = new TraceDatBytes(ByteOrder.LITTLE_ENDIAN, 8);
        RingPage page = new RingPage(ByteOrder.LITTLE_ENDIAN, 8, TraceDatBytes.PAGE, 5000);
        page.event(10, format.hello(7, 1, "one")).event(20, format.hello(9, -1, "it's"));
        source = folder.resolve("trace.dat");
        Files.write(source, format.cpu(page.toBytes()).version7(false));
    }

    private static String query(Path file, String sql) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (QueryRecipe query = QueryRecipe.open(List.of(file), null, false)) {
            query.run(sql, OutputFormat.CSV, out);
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    private Path convert(String to, ConvertTarget target) throws IOException {
        Path made = folder.resolve(to);
        new ConvertRecipe().convert(source, made, target);
        return made;
    }

    @Test
    void aFolderHasTheSameTables() throws Exception {
        Files.createDirectory(folder.resolve("made"));
        Path made = convert("made", new ConvertTarget.Parquet(true));
        assertThat(query(made, ROWS)).isEqualTo(query(source, ROWS)).contains("it's");
        String all = "SELECT name, ts, cpu, weight FROM events ORDER BY ts";
        assertThat(query(made, all)).isEqualTo(query(source, all));
    }

    @Test
    void aFileHasTheSameRows() throws Exception {
        Path made = convert("made.parquet", new ConvertTarget.Parquet(false));
        assertThat(query(made, ROWS)).isEqualTo(query(source, ROWS)).contains("it's");
    }

    @Test
    void addressesAboveTheSignBit() throws Exception {
        PerfDataBytes file = new PerfDataBytes(ByteOrder.LITTLE_ENDIAN);
        file.event(file.attr(1, 0, 1 | 2 | 4, 0, 0), 1);
        long start = 0xffffffff81000000L;
        file.record(
                1,
                1,
                file.fields().u32(-1).u32(0).u64(start, 0x1000, start).text("_text", 8)); // MMAP
        source = Files.write(folder.resolve("kernel.data"), file.file());
        String sql = "SELECT addr, pgoff FROM \"perf_record.mmap\"";
        Path made = convert("kernel.parquet", new ConvertTarget.Parquet(false));
        assertThat(query(made, sql)).isEqualTo(query(source, sql)).contains("18446744071578845184");
    }

    @Test
    void anotherProgramsParquetIsToldApart() throws Exception {
        Path other = folder.resolve("other.parquet");
        try (QueryRecipe query = QueryRecipe.open(List.of(source), other, false)) {
            query.runInto("SELECT 42 AS answer", OutputFormat.PARQUET);
        }
        assertThatThrownBy(() -> ReportSource.open(other))
                .isInstanceOf(MalformedInputException.class)
                .hasMessageContaining("no columns ts, cpu, tid")
                .hasMessageContaining("duckdb -c");
    }

    @Test
    void damageIsSaidOnce() throws Exception {
        byte[] whole =
                Files.readAllBytes(convert("made.parquet", new ConvertTarget.Parquet(false)));
        Path damaged = folder.resolve("damaged.parquet");
        Property.forAll(
                3,
                60,
                random -> {
                    byte[] bytes = whole.clone();
                    bytes[4 + random.nextInt(bytes.length - 4)] ^= (byte) (1 + random.nextInt(255));
                    int end =
                            random.nextBoolean()
                                    ? bytes.length
                                    : 4 + random.nextInt(bytes.length - 4);
                    Files.write(damaged, java.util.Arrays.copyOf(bytes, end));
                    try (ReportSource read = ReportSource.open(damaged)) {
                        assertThat(read.recordings()).hasSize(1);
                    } catch (MalformedInputException e) {
                        assertThat(e).hasMessageContaining("Parquet");
                    }
                });
    }
}
