package sonde.open.export;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.binary.Input;
import sonde.event.Recording;
import sonde.exchange.export.ChainNames;
import sonde.exchange.export.ExportLosses;
import sonde.exchange.export.ExportRows;
import sonde.exchange.export.FileFormat;
import sonde.open.format.RecordedRows;
import sonde.recording.ftrace.EventFormats;
import sonde.recording.perfdata.PerfDataReader;
import sonde.recording.tracedat.TraceDatReader;
import sonde.testkit.Property;
import sonde.testkit.RingPage;
import sonde.testkit.TraceDatBytes;

class TraceDatExportTest {
    @TempDir Path folder;
    private final ExportLosses losses = new ExportLosses();

    private Path write(Recording recording) throws IOException {
        Path file = folder.resolve("trace.dat");
        List<Recording> all = List.of(recording);
        try (ExportRows rows = ExportRows.of(all, ChainNames.own())) {
            FileFormat.TRACEDAT.write(all, rows, file, losses);
        }
        return file;
    }

    /** Floating-point numbers are written in decimals. */
    private static MadeRecording.Row decimals(MadeRecording.Row row, MadeRecording.Row found) {
        Map<String, String> values = new TreeMap<>();
        row.values()
                .forEach((name, value) -> {
                    byte[] ascii = value.getBytes(StandardCharsets.US_ASCII);
                    String text = "text " + HexFormat.of().formatHex(ascii);
                    values.put(name, text.equals(found.values().get(name)) ? text : value);
                });
        return new MadeRecording.Row(row.time(), row.cpu(), row.tid(), row.name(), values);
    }

    @Test
    void whatIsWrittenIsReadAgain() {
        Property.forAll(
                1,
                60,
                random -> {
                    MadeRecording made = MadeRecording.random(random, true);
                    List<MadeRecording.Row> expected = MadeRecording.rows(made);
                    try (Recording read = TraceDatReader.open(Input.open(write(made)))) {
                        List<MadeRecording.Row> found = MadeRecording.rows(read);
                        assertThat(found).hasSameSizeAs(expected);
                        for (int i = 0; i < found.size(); i++) {
                            assertThat(found.get(i))
                                    .isEqualTo(decimals(expected.get(i), found.get(i)));
                        }
                        assertThat(read.notes()).isEmpty();
                    }
                    assertThat(losses.lines()).isEmpty();
                });
    }

    @Test
    void processesWeightsChainsAndLossesAreKept() {
        Property.forAll(
                100,
                30,
                random -> {
                    MadeRecording made = MadeRecording.random(random, false);
                    List<String> expected = RecordedRows.of(made);
                    try (Recording read = TraceDatReader.open(Input.open(write(made)))) {
                        List<String> found = RecordedRows.of(read);
                        assertThat(lost(found)).isEqualTo(lost(expected));
                        assertThat(count(found, "made")).isEqualTo(count(expected, "made"));
                    }
                    assertThat(losses.lines()).isEmpty();
                });
    }

    private static long count(List<String> rows, String what) {
        return rows.stream().filter(row -> row.contains(" " + what)).count();
    }

    /** Losses without an event between them are one. */
    private static long lost(List<String> rows) {
        return rows.stream()
                .filter(row -> row.contains("notice:lost"))
                .mapToLong(row ->
                        row.contains("*") ? Long.parseLong(row.replaceFirst(".*\\*", "")) : 1)
                .sum();
    }

    @Test
    void kernelsOfAllKindsKeepTheirPayloads() throws IOException {
        for (ByteOrder order : List.of(ByteOrder.BIG_ENDIAN, ByteOrder.LITTLE_ENDIAN)) {
            for (int longBytes : List.of(4, 8)) {
                TraceDatBytes format = new TraceDatBytes(order, longBytes);
                RingPage page = new RingPage(order, longBytes, TraceDatBytes.PAGE, 5000);
                page.lost(7).event(10, format.hello(7, 1, "one")).extend(1L << 40);
                page.event(20, format.hello(-1, -2, "two"));
                byte[] file = format.cpu(page.toBytes()).version7(false);
                List<String> expected = RecordedRows.of(file, TraceDatReader::open);
                Path target;
                try (Recording from = TraceDatReader.open(RecordedRows.input(file))) {
                    target = write(from);
                }
                try (Recording read = TraceDatReader.open(Input.open(target))) {
                    EventFormats formats = read.capability(EventFormats.class).orElseThrow();
                    assertThat(formats.order()).isEqualTo(order);
                    assertThat(formats.longBytes()).isEqualTo(longBytes);
                    assertThat(RecordedRows.of(read)).isEqualTo(expected);
                    assertThat(read.threadNames().orElseThrow()).containsEntry(7, "seven");
                }
            }
        }
        assertThat(losses.lines()).isEmpty();
    }

    @Test
    void samplesGetFormats() throws IOException {
        byte[] file = PerfFiles.example(ByteOrder.BIG_ENDIAN);
        Path target;
        try (Recording from = PerfDataReader.open(RecordedRows.input(file))) {
            target = write(from);
        }
        try (Recording read = TraceDatReader.open(Input.open(target))) {
            List<String> found = RecordedRows.of(read);
            assertThat(found)
                    .anyMatch(
                            row -> row.contains("sched:sched_example") && row.contains("comm=cat"))
                    .anyMatch(row -> row.contains("perf:cycles"));
            assertThat(read.threadNames().orElseThrow()).containsEntry(8, "cat");
        }
    }
}
