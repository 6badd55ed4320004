package sonde.open.export;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.binary.Input;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.exchange.export.ChainNames;
import sonde.exchange.export.ExportLosses;
import sonde.exchange.export.ExportRows;
import sonde.exchange.export.FileFormat;
import sonde.open.format.RecordedRows;
import sonde.recording.perfdata.PerfDataReader;
import sonde.recording.perfdata.PerfDescription;
import sonde.recording.tracedat.TraceDatReader;
import sonde.testkit.Property;
import sonde.testkit.RingPage;
import sonde.testkit.TraceDatBytes;

class PerfDataExportTest {
    @TempDir Path folder;
    private final ExportLosses losses = new ExportLosses();

    private Recording written(Recording recording) throws IOException {
        Path file = folder.resolve("perf.data");
        List<Recording> all = List.of(recording);
        try (ExportRows rows = ExportRows.of(all, ChainNames.own())) {
            FileFormat.PERFDATA.write(all, rows, file, losses);
        }
        return PerfDataReader.open(Input.open(file));
    }

    /** What rows have besides fields, by time: {@code time pid weight chain}. */
    private static List<String> samples(Recording recording) throws IOException {
        List<String> all = new ArrayList<>();
        for (Lane lane : recording.lanes()) {
            for (Batch batch = lane.next(); batch != null; batch = lane.next()) {
                for (int row = 0; row < batch.size(); row++) {
                    EventType type = batch.source().types().get(batch.type(row));
                    int pid = batch.pid(row) < 0 ? batch.tid(row) : batch.pid(row);
                    if (type.system().startsWith("made")) {
                        all.add(batch.time(row) + " " + pid + " " + batch.weight(row));
                    } else if (type.name().equals("lost")) {
                        all.add(batch.time(row) + " lost " + batch.weight(row));
                    }
                }
            }
        }
        all.sort(null);
        return all;
    }

    @Test
    void whatIsWrittenIsReadAgain() {
        Property.forAll(
                1,
                40,
                random -> {
                    MadeRecording made = MadeRecording.random(random, false);
                    List<MadeRecording.Row> expected = MadeRecording.rows(made);
                    List<String> besides = samples(made);
                    try (Recording read = written(made)) {
                        List<MadeRecording.Row> found = new ArrayList<>(MadeRecording.rows(read));
                        assertThat(found).hasSameSizeAs(expected);
                        Map<String, MadeRecording.Row> byPlace = new TreeMap<>();
                        found.forEach(row -> byPlace.put(place(row), row));
                        for (MadeRecording.Row row : expected) {
                            MadeRecording.Row same = byPlace.get(place(row));
                            assertThat(same).isNotNull();
                            assertThat(same.values().keySet()).isEqualTo(row.values().keySet());
                            row.values()
                                    .forEach((name, value) ->
                                            assertThat(same.values().get(name))
                                                    .isIn(value, decimals(value)));
                        }
                        assertThat(samples(read)).isEqualTo(besides);
                        assertThat(read.notes()).isEmpty();
                    }
                    assertThat(losses.lines()).isEmpty();
                });
    }

    /** Rows of one thread, time and type are one: the generator makes no two. */
    private static String place(MadeRecording.Row row) {
        return row.time() + " " + row.cpu() + " " + row.tid() + " " + row.name();
    }

    private static String decimals(String value) {
        byte[] ascii = value.getBytes(StandardCharsets.US_ASCII);
        return "text " + HexFormat.of().formatHex(ascii);
    }

    @Test
    void perfOfAnotherMachine() throws IOException {
        byte[] file = PerfFiles.example(ByteOrder.BIG_ENDIAN);
        List<String> expected = RecordedRows.of(file, PerfDataReader::open);
        List<String> found;
        try (Recording from = PerfDataReader.open(RecordedRows.input(file));
                Recording read = written(from)) {
            PerfDescription perf = read.capability(PerfDescription.class).orElseThrow();
            assertThat(perf.order()).isEqualTo(ByteOrder.LITTLE_ENDIAN);
            assertThat(read.kernel().hostname()).isEqualTo("box");
            found = RecordedRows.of(read);
        }
        // Arrays are shown as bytes, and those are turned.
        assertThat(found)
                .map(row -> row.replaceAll("words=\\[.*?]", "").replaceAll(" id=\\d+", ""))
                .isEqualTo(
                        expected.stream()
                                .map(row ->
                                        row.replaceAll("words=\\[.*?]", "")
                                                .replaceAll(" id=\\d+", ""))
                                .toList());
        assertThat(found).anyMatch(row -> row.contains("words=[4, 3, 2, 1, 5, 0, 0, 0]"));
        assertThat(losses.lines()).isEmpty();
    }

    @Test
    void kernelsOfAllKinds() throws IOException {
        for (ByteOrder order : List.of(ByteOrder.BIG_ENDIAN, ByteOrder.LITTLE_ENDIAN)) {
            for (int longBytes : List.of(4, 8)) {
                TraceDatBytes format = new TraceDatBytes(order, longBytes);
                RingPage page = new RingPage(order, longBytes, TraceDatBytes.PAGE, 5000);
                page.lost(7).event(10, format.hello(7, 1, "one"));
                page.event(20, format.hello(8, -2, "two"));
                byte[] file = format.cpu(page.toBytes()).version7(false);
                try (Recording from = TraceDatReader.open(RecordedRows.input(file));
                        Recording read = written(from)) {
                    List<MadeRecording.Row> expected = MadeRecording.rows(from);
                    assertThat(MadeRecording.rows(read)).containsAll(expected);
                    assertThat(RecordedRows.of(read))
                            .anyMatch(row -> row.contains("notice:lost *7"))
                            .anyMatch(row -> row.contains("perf_record:comm"));
                }
            }
        }
        assertThat(losses.lines()).isEmpty();
    }
}
