package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The first screen of recordings of other tools: what it has to say, and what would be false. That
 * children were not waited for is not known where no such call was recorded, or of threads.
 */
@Tag("product")
final class AnswerCorpusTest {
    @TempDir static Path folder;

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    perf_data_converter/quipper/testdata/perf.data.forkexit-3.8 | 254 processes were started    | zombies
                    perf_data_converter/quipper/testdata/perf.data.callgraph-3.4 | of which no symbols were found | has no symbols
                    tracecompass-test-traces/many-threads  | 4,674 threads were started in 433 ms     | zombies
                    tracecompass-test-traces/many-threads  | multithread ×4,674                       | processes were started
                    lisa/870cec7b_tests_trace.dat          | the 8 Thread-105 threads ran 36.1 s in 4.53 s, 100 % of the CPU time | on CPU, kernel
                    lisa/870cec7b_tests_trace.dat          | busy), 50 threads, 59,176 events.        | watchdog
                    local-6.18/events-6.18-v7.dat.gz       | 246 ms of 291 ms for its children ls ×2, dd ×2 | rm 12589
                    babeltrace/tests/data/ctf-traces/intersection/3eventsintersect | 8 events in 102 ns | 0.000 s
                    babeltrace/tests/data/ctf-traces/intersection/nostream | 0 events.                | no times
                    """)
    void firstScreenIsTrue(String name, String said, String unsaid) throws Exception {
        String named = System.getProperty("sonde.corpus", System.getenv("SONDE_CORPUS"));
        Path corpus = named != null ? Path.of(named) : Sonde.ROOT.resolve("../shared/corpus");
        Path file = corpus.resolve("traces").resolve(name);
        assumeTrue(Files.exists(file), "no corpus");
        assertThat(Sonde.in(folder).run("report", file.toString()).out())
                .contains(said)
                .doesNotContain(unsaid);
    }
}
