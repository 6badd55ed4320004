package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever a recorded process maps, and whatever takes its place: it costs one build-id. */
@Tag("kernel")
class MappedFilesKernelTest {
    @TempDir Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"fp", "dwarf"})
    void filesOfEveryKind(String callGraph) throws Exception {
        assumeTrue(Files.isWritable(Path.of("/proc/1/oom_score_adj")), "needs root");
        Path program = TargetProgram.compile(folder, "maps", "-O1");
        Path work = Files.createDirectory(folder.resolve("work"));
        Sonde.Outcome outcome =
                Sonde.in(folder)
                        .run(
                                "record",
                                "--call-graph",
                                callGraph,
                                "-o",
                                "m",
                                "--",
                                program.toString(),
                                work.toString());
        assertThat(outcome.status()).as("%s", outcome).isEqualTo(7);
        assertThat(outcome.err())
                .contains("on CPU, user", "recorded into m.sonde")
                .doesNotContain("internal fault", "did not finish", "could not be finished");
        Recorded recorded = Recorded.of(folder.resolve("m.sonde"));
        assertThat(recorded.meta().text("state")).isEqualTo("finished");
        String data = recorded.file("perf.data");
        Sonde.Outcome perf =
                Sonde.in(folder).execute(List.of("perf", "script", "-F", "comm", "-i", data));
        assertThat(perf.status()).as("%s", perf.err()).isZero();
        assertThat(perf.out().lines().filter(line -> line.strip().equals("maps")).count())
                .isGreaterThan(10);
        Sonde.Outcome ids = Sonde.in(folder).execute(List.of("perf", "buildid-list", "-i", data));
        assertThat(ids.out()).contains("/libc.so.6", "/maps\n", "/work/sparse");
        assertThat(ids.out()).doesNotContain("btf/vmlinux", "/work/fifo", "/work/gone");
    }
}
