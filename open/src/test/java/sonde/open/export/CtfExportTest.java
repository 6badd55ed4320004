package sonde.open.export;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.event.Recording;
import sonde.exchange.export.ChainNames;
import sonde.exchange.export.ExportLosses;
import sonde.exchange.export.ExportRows;
import sonde.exchange.export.FileFormat;
import sonde.open.format.RecordedRows;
import sonde.recording.InputSet;
import sonde.recording.ctf.CtfRecording;
import sonde.recording.perfdata.PerfDataReader;
import sonde.recording.tracedat.TraceDatReader;
import sonde.testkit.Property;
import sonde.testkit.RingPage;
import sonde.testkit.TraceDatBytes;

class CtfExportTest {
    private static final List<FileFormat> VERSIONS = List.of(FileFormat.CTF, FileFormat.CTF1);

    /** Members that rows have besides fields, and what the packet says. */
    private static final String ADDED = "period|callchain|_.*_length|context\\..*|packet\\.cpu_id";

    @TempDir Path folder;
    private final ExportLosses losses = new ExportLosses();

    private Path write(Recording recording, FileFormat version) throws IOException {
        Path made = Files.createTempDirectory(folder, "trace");
        List<Recording> all = List.of(recording);
        try (ExportRows rows = ExportRows.of(all, ChainNames.own())) {
            version.write(all, rows, made, losses);
        }
        return made;
    }

    /** Without what the writer adds: threads, lengths, what rows have besides fields. */
    private static MadeRecording.Row bare(MadeRecording.Row row) {
        Map<String, String> values = new TreeMap<>(row.values());
        values.keySet()
                .removeIf(name ->
                        name.matches("period|callchain|_.*_length|context\\..*|packet\\.cpu_id"));
        return new MadeRecording.Row(row.time(), row.cpu(), row.tid(), row.name(), values);
    }

    @Test
    void whatIsWrittenIsReadAgain() {
        for (FileFormat version : VERSIONS) {
            Property.forAll(
                    1,
                    40,
                    random -> {
                        MadeRecording made = MadeRecording.random(random, false);
                        List<MadeRecording.Row> expected = MadeRecording.rows(made);
                        long lost = lost(RecordedRows.of(made));
                        InputSet inputs = InputSet.below(write(made, version));
                        try (CtfRecording read = CtfRecording.open(inputs)) {
                            List<MadeRecording.Row> found = MadeRecording.rows(read);
                            assertThat(found.stream().map(CtfExportTest::bare).toList())
                                    .isEqualTo(expected.stream().map(CtfExportTest::bare).toList());
                            assertThat(lost(RecordedRows.of(read))).isEqualTo(lost);
                        }
                        assertThat(losses.lines()).isEmpty();
                    });
        }
    }

    private static long lost(List<String> rows) {
        return rows.stream()
                .filter(row -> row.contains("notice:lost"))
                .mapToLong(row ->
                        row.contains("*")
                                ? Long.parseLong(row.replaceFirst(".*\\*(\\d+).*", "$1"))
                                : 1)
                .sum();
    }

    @Test
    void kernelsOfOtherMachines() throws IOException {
        for (FileFormat version : VERSIONS) {
            TraceDatBytes format = new TraceDatBytes(ByteOrder.BIG_ENDIAN, 4);
            RingPage page = new RingPage(ByteOrder.BIG_ENDIAN, 4, TraceDatBytes.PAGE, 5000);
            page.event(10, format.hello(7, 1, "one")).event(20, format.hello(8, -2, "two"));
            byte[] file = format.cpu(page.toBytes()).version7(false);
            try (Recording from = TraceDatReader.open(RecordedRows.input(file));
                    CtfRecording read = CtfRecording.open(InputSet.below(write(from, version)))) {
                assertThat(MadeRecording.rows(read))
                        .map(CtfExportTest::bare)
                        .map(row -> row.time() + " " + row.name() + " " + row.values())
                        .containsExactly(
                                "5010 test:hello {name=text 6f6e65, number=1}",
                                "5030 test:hello {name=text 74776f, number=4294967294}");
            }
        }
    }

    @Test
    void samples() throws IOException {
        for (FileFormat version : VERSIONS) {
            byte[] file = PerfFiles.example(ByteOrder.BIG_ENDIAN);
            try (Recording from = PerfDataReader.open(RecordedRows.input(file));
                    CtfRecording read = CtfRecording.open(InputSet.below(write(from, version)))) {
                assertThat(MadeRecording.rows(read))
                        .anySatisfy(row -> {
                            assertThat(row.name()).isEqualTo("sched:sched_example");
                            assertThat(row.tid()).isEqualTo(8);
                            assertThat(row.values()).containsEntry("comm", "text 636174");
                            assertThat(row.values()).containsEntry("words", "0403020105000000");
                        })
                        .anySatisfy(row ->
                                assertThat(row.values()).containsEntry("_callchain_length", "3"));
            }
        }
    }
}
