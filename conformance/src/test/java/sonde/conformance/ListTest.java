package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code sonde list} and {@code sonde probe list} against the files of tracefs. */
@Tag("product")
@Tag("tracefs")
class ListTest {
    private static final Path TRACEFS = Path.of("/sys/kernel/tracing");

    @TempDir Path folder;

    @BeforeEach
    void needsTracefs() {
        assumeTrue(Files.isReadable(TRACEFS.resolve("events")), "tracefs is not readable");
    }

    private String sonde(String words) throws Exception {
        Sonde.Outcome outcome =
                Sonde.in(folder)
                        .execute(List.of("/bin/bash", "-c", Sonde.ROOT + "/sonde " + words));
        assertThat(outcome.status()).as("%s", outcome).isZero();
        return outcome.out();
    }

    @Test
    void formatsAreWhole() throws Exception {
        Path event = TRACEFS.resolve("events/sched/sched_process_fork");
        String format = Files.readString(event.resolve("format"));
        String print = format.substring(format.indexOf("print fmt: ") + 11).strip();
        String id = Files.readString(event.resolve("id")).strip();
        assertThat(sonde("list -v sched_process_fork"))
                .contains("common_pid", "unsigned short common_type", "child_comm", print)
                .containsPattern("(?m)^ +" + id + " +\"");
    }

    @Test
    void tracersAndFunctionsAreThoseOfTheKernel() throws Exception {
        String text = sonde("list --tracers");
        for (String tracer :
                Files.readString(TRACEFS.resolve("available_tracers")).strip().split("\\s+")) {
            assertThat(text).containsPattern("(?m)^ +" + tracer + "\\b");
        }
        assertThat(sonde("list --functions 'vfs_rea*'"))
                .containsPattern("(?m)^ +vfs_read\\b")
                .doesNotContain("vfs_write");
        assertThat(Sonde.in(folder).run("list", "--functions", "no_such_function").status())
                .isEqualTo(1);
    }

    @Test
    void probesAreFoundWithTheirHits() throws Exception {
        assumeTrue(
                Files.isWritable(TRACEFS.resolve("uprobe_events")),
                "probes of programs are not there");
        Files.writeString(
                folder.resolve("hits.c"),
                """
                __attribute__((noinline)) int f(int n) { __asm__ volatile(""); return n; }
                int main(void) { int s = 0; for (int i = 0; i < 7; i++) s += f(i); return s == 3; }
                """);
        Sonde.in(folder).execute(List.of("gcc", "-g", "-O1", "-o", "hits", "hits.c"));
        try {
            sonde("probe add -x ./hits f n");
            assertThat(sonde("list 'probe_hit*'")).contains("probe_hits:f");
            assertThat(sonde("list 'probe*'")).contains("probe_hits:f");
            assertThat(sonde("probe list")).containsPattern("probe_hits:f .* 0 hits");
            sonde("record --no-summary -e probe_hits:f -o hits.sonde -- ./hits");
            assertThat(sonde("probe list")).containsPattern("probe_hits:f .* 7 hits");
        } finally {
            sonde("probe del 'probe_hits:*'");
        }
    }
}
