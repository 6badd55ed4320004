package sonde.tools.ftrace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Texts of hist files, those of Linux 6.1 in the corpus. */
final class HistogramTextTest {
    private static final String TEXT =
            """
            # event histogram
            #
            # trigger info: hist:keys=id.syscall:vals=hitcount:size=2048 [active]
            #

            { id: sys_write      [  1], common_pid: wl-thr-A   [  5766] } hitcount:  20  bytes:     -3
            { stacktrace:
                     __schedule+0x4f8/0xa00
                     schedule+0x5a/0xd0
            } hitcount:          1
            { ret: ~ 2^9

            Totals:
                Hits: 21
                Entries: 2
                Dropped: 7
            """;

    @Test
    void keysAndValuesAreRead() {
        HistogramText text = HistogramText.parse(TEXT);
        assertThat(text.rows()).hasSize(2);
        assertThat(text.rows().getFirst().keys())
                .isEqualTo(Map.of("id", "sys_write [ 1]", "common_pid", "wl-thr-A [ 5766]"));
        assertThat(text.rows().getFirst().values())
                .isEqualTo(Map.of("hitcount", "20", "bytes", "-3"));
        assertThat(text.rows().getLast().keys())
                .isEqualTo(Map.of("stacktrace", "__schedule+0x4f8/0xa00 < schedule+0x5a/0xd0"));
        assertThat(text.table("t", 10).rows().getFirst())
                .isEqualTo(List.of("sys_write [ 1]", "wl-thr-A [ 5766]", 20L, -3L));
    }

    /** Every hit of the totals is in a row. */
    @ParameterizedTest
    @ValueSource(
            strings = {"hist-kmalloc", "hist-log2", "hist-stack", "hist-syscall", "synth-hist"})
    void rowsAddUpToTheTotals(String name) throws IOException {
        Path file =
                Path.of(System.getProperty("sonde.root", ".."))
                        .resolve("../shared/corpus/kernel/stock61/" + name + ".txt");
        assumeTrue(Files.exists(file), "no corpus at " + file);
        HistogramText text = HistogramText.parse(Files.readString(file));
        assertThat(text.hits()).isPositive();
        assertThat(text.rows().stream().mapToLong(HistogramText.HistogramRow::hits).sum())
                .isEqualTo(text.hits());
    }
}
