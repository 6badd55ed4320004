package sonde.probe.names;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

/** What the program costs calls it does not watch: dd, a million system calls, alternating. */
@Tag("bench")
final class NamesCostBenchTest {
    private static final int PAIRS = 15;
    private static final Path TRACING = Path.of("/sys/kernel/tracing/instances/sonde-cost");

    /** System calls are slower for all as soon as any tracepoint on them is on. */
    @Test
    void alone(TestReporter reporter) throws Exception {
        double cost = medianCost(reporter, "alone");
        assertThat(cost).isLessThan(0.5);
    }

    /**
     * As in a recording, where ftrace has the system call tracepoints on anyway. A second probe
     * turns the tracepoint's direct call into a loop of indirect ones (retpolines here): some 100
     * ns a call, which no program on these tracepoints can avoid.
     */
    @Test
    void besideARecordingOfSystemCalls(TestReporter reporter) throws Exception {
        Files.createDirectory(TRACING);
        try {
            for (String event : new String[] {"sys_enter", "sys_exit"}) {
                Files.writeString(TRACING.resolve("events/raw_syscalls/" + event + "/enable"), "1");
            }
            assertThat(medianCost(reporter, "beside ftrace")).isLessThan(0.25);
        } finally {
            Files.writeString(TRACING.resolve("events/enable"), "0");
            Files.delete(TRACING);
        }
    }

    private static double medianCost(TestReporter reporter, String what) throws Exception {
        double[] ratios = new double[PAIRS];
        double[] base = new double[PAIRS];
        long attachNanos = 0;
        long detachNanos = 0;
        for (int i = -1; i < PAIRS; i++) {
            double without = ddSeconds();
            long begin = System.nanoTime();
            try (OutputRings rings = new OutputRings(8)) {
                NamesProgram names = NamesProgram.ofTree(rings::fd, Set.of());
                attachNanos = System.nanoTime() - begin;
                double with = ddSeconds();
                begin = System.nanoTime();
                names.close();
                detachNanos = System.nanoTime() - begin;
                if (i >= 0) {
                    ratios[i] = with / without - 1;
                    base[i] = without;
                }
            }
        }
        Arrays.sort(ratios);
        Arrays.sort(base);
        reporter.publishEntry(
                what,
                "dd %.3f s, with names %+.1f %% (%+.1f to %+.1f), attach %d ms, detach %d ms"
                        .formatted(
                                base[PAIRS / 2],
                                100 * ratios[PAIRS / 2],
                                100 * ratios[PAIRS / 4],
                                100 * ratios[PAIRS * 3 / 4],
                                attachNanos / 1_000_000,
                                detachNanos / 1_000_000));
        return ratios[PAIRS / 2];
    }

    /** CPU seconds, user and system: wall time says more about the machine's other guests. */
    private static double ddSeconds() throws Exception {
        Process dd =
                new ProcessBuilder(
                                "bash",
                                "-c",
                                "TIMEFORMAT='%U %S'; time dd if=/dev/zero of=/dev/null bs=1"
                                        + " count=500000 2>/dev/null")
                        .redirectErrorStream(true)
                        .start();
        String[] parts = new String(dd.getInputStream().readAllBytes()).strip().split(" ");
        assertThat(dd.waitFor()).isZero();
        return Double.parseDouble(parts[0]) + Double.parseDouble(parts[1]);
    }
}
