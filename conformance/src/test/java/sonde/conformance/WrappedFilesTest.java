package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A recording that was compressed, put into an archive or comes through a pipe is read as itself.
 */
@Tag("product")
@Tag("tracefs")
class WrappedFilesTest {
    @TempDir Path folder;

    @Test
    void wrappersAndPipesMakeNoDifference() throws Exception {
        Recorded recorded = Recorded.record(folder, "made", "--", "ls", "/");
        Path trace = recorded.bundle.resolve("trace.dat");
        String plain = eventCounts("./sonde report " + trace + " --stats");
        assertThat(plain).contains("raw_syscalls:sys_enter");
        for (String way :
                List.of(
                        "gzip -c %s > t1 && ./sonde report t1 --stats",
                        "xz -0 -c %s > t2 && ./sonde report t2 --stats",
                        "zstd -q -c %s > t3 && ./sonde report t3 --stats",
                        "tar -czf t4 -C / %s && ./sonde report t4 --stats",
                        "gzip -c %s | ./sonde report - --stats",
                        "./sonde report --stats - < %s")) {
            assertThat(eventCounts(way.formatted(trace))).as(way).isEqualTo(plain);
        }
    }

    /** The table of events of a report; its headline names the file. */
    private String eventCounts(String command) throws Exception {
        String line = command.replace("./sonde", Sonde.ROOT.resolve("sonde").toString());
        Sonde.Outcome outcome = Sonde.in(folder).execute(List.of("/bin/bash", "-c", line));
        assertThat(outcome.status()).as("%s", outcome).isZero();
        return outcome.out().substring(outcome.out().indexOf("events\n"));
    }
}
