package sonde.conformance.perfetto;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.binary.Input;
import sonde.binary.archive.UnwrapLimits;
import sonde.binary.archive.UnwrappedFiles;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.exchange.export.ChainNames;
import sonde.exchange.export.ExportFormat;
import sonde.exchange.export.ExportLosses;
import sonde.exchange.export.ExportRows;
import sonde.open.format.TraceFormat;

/** Counts of real traces, as the corpus's index has them from Perfetto's own packets. */
class PerfettoCorpusTest {
    private static final String FOLDER = "traces/Microsoft-Performance-Tools-Linux-Android/";
    private static final Set<String> OURS =
            Set.of("slice", "counter", "perf", "trace", "perf_record", "notice", "log");

    private static Path file(String name) {
        String told = System.getProperty("sonde.corpus", System.getenv("SONDE_CORPUS"));
        Path corpus =
                told != null
                        ? Path.of(told)
                        : Path.of(System.getProperty("sonde.root", "."))
                                .resolve("../shared/corpus");
        Path file = corpus.resolve(FOLDER + name);
        assumeTrue(Files.isRegularFile(file), "no corpus at " + corpus);
        return file;
    }

    private static Map<String, Long> counts(Recording recording) throws IOException {
        Map<String, Long> counts = new TreeMap<>();
        for (Lane lane : recording.lanes()) {
            for (Batch batch = lane.next(); batch != null; batch = lane.next()) {
                for (int row = 0; row < batch.size(); row++) {
                    EventType type = batch.source().types().get(batch.type(row));
                    counts.merge(type.qualifiedName(), 1L, Long::sum);
                    if (!OURS.contains(type.system())) {
                        counts.merge("ftrace", 1L, Long::sum);
                    }
                }
            }
            lane.close();
        }
        return counts;
    }

    private static Recording open(Input input) throws IOException {
        assertThat(TraceFormat.of(input)).contains(TraceFormat.PERFETTO);
        return TraceFormat.PERFETTO.open(input);
    }

    @ParameterizedTest
    @CsvSource({
        "perfetto_android12_cpuschedstack.pftrace, 64287",
        "test_trace.perfetto-trace, 35877",
        "androidBasicMemory.pftrace, 0"
    })
    void everyKernelEventIsThere(String name, long ftrace) throws IOException {
        try (Recording trace = open(Input.open(file(name)))) {
            assertThat(counts(trace).getOrDefault("ftrace", 0L)).isEqualTo(ftrace);
            assertThat(trace.notes()).noneMatch(note -> note.contains("could not be read"));
        }
    }

    @Test
    void everyTrackEventIsThere() throws IOException {
        try (UnwrappedFiles file =
                UnwrappedFiles.of(Input.open(file("chrome.pftrace")), UnwrapLimits.DEFAULT)) {
            Recording trace = open(file.inputs().getFirst());
            Map<String, Long> counts = counts(trace);
            long events = counts.getOrDefault("slice:begin", 0L);
            events += counts.getOrDefault("slice:end", 0L);
            events += counts.getOrDefault("slice:instant", 0L);
            assertThat(events).isEqualTo(292_326);
            trace.close();
        }
    }

    @Test
    void kernelEventsAndSamplesSurviveOurWriter() throws IOException {
        Path written = Files.createTempFile("sonde", ".pftrace");
        try (Recording trace = open(Input.open(file("perfetto_android12_cpuschedstack.pftrace")))) {
            try (var out = Files.newOutputStream(written);
                    ExportRows rows = ExportRows.of(List.of(trace), ChainNames.own())) {
                ExportFormat.PERFETTO.write(rows, out, new ExportLosses());
            }
            Map<String, Long> before = counts(trace);
            try (Recording again = open(Input.open(written))) {
                Map<String, Long> after = counts(again);
                assertThat(after).containsEntry("ftrace", 64_287L);
                for (String type : before.keySet()) {
                    if (type.contains("sched") || type.startsWith("power")) {
                        assertThat(after).containsEntry(type, before.getOrDefault(type, 0L));
                    }
                }
            }
        } finally {
            Files.delete(written);
        }
    }
}
