package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code record --live}: lines come while the recording is made, which stays whole. */
@Tag("kernel")
@Tag("long")
class LiveKernelTest {
    private static final Pattern EXEC =
            Pattern.compile(".* (\\d+\\.\\d{6}): sched_process_exec: .*/true .*");

    @TempDir Path folder;
    private Map<String, String> before = Map.of();

    @BeforeEach
    void onlyAsRoot() throws Exception {
        assumeTrue(Files.isWritable(Path.of("/proc/1/oom_score_adj")), "needs root");
        before = KernelState.now();
    }

    @AfterEach
    void nothingStays() throws Exception {
        assertThat(KernelState.now()).isEqualTo(before);
    }

    private Process live(String... words) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Sonde.ROOT.resolve("sonde").toString());
        command.addAll(List.of("record", "--live", "--no-summary", "-o", "r"));
        command.addAll(List.of(words));
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .directory(folder.toFile())
                        .redirectInput(Path.of("/dev/null").toFile())
                        .redirectError(folder.resolve("err").toFile());
        builder.environment().putIfAbsent("SONDE_TRAIN", "never");
        return builder.start();
    }

    private String events(String... words) throws Exception {
        List<String> command = new ArrayList<>(List.of("report", "r.sonde", "--events"));
        command.addAll(List.of(words));
        return Sonde.in(folder).run(command.toArray(String[]::new)).out();
    }

    @Test
    void anEventIsALineWithin300Milliseconds() throws Exception {
        // The first second belongs to the start of the reader.
        String script =
                "sleep 1; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do /bin/true; sleep 0.15; done";
        Process process = live("-e", "sched:sched_process_exec", "--", "sh", "-c", script);
        List<Long> millis = new ArrayList<>();
        List<String> lines = new ArrayList<>();
        try (BufferedReader reader = process.inputReader()) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                long now = System.nanoTime(); // CLOCK_MONOTONIC, as the events have it
                lines.add(line);
                Matcher exec = EXEC.matcher(line);
                if (exec.matches()) {
                    double seconds = Double.parseDouble(exec.group(1));
                    millis.add(now / 1_000_000 - Math.round(1000 * seconds));
                }
            }
        }
        assertThat(process.waitFor()).isZero();
        millis.sort(null);
        assertThat(millis).hasSize(12);
        assertThat(millis.get(6)).as("median of %s", millis).isBetween(0L, 300L);
        assertThat(lines.getFirst()).startsWith("     0.000 ");
        assertThat((String.join("\n", lines) + "\n").replaceAll("(?m)^.{11}", ""))
                .isEqualTo(events("--event", "sched:sched_process_exec"));
    }

    @Test
    void whatIsShownAndWhatIsRecordedAreTheSame() throws Exception {
        String script = "for i in 1 2 3; do ls / >/dev/null; sleep 0.2; done";
        Process process = live("--json", "-e", "raw_syscalls:sys_enter", "--", "sh", "-c", script);
        List<String> shown = process.inputReader().lines().toList();
        assertThat(process.waitFor()).isZero();
        List<String> recorded =
                events("--json", "--event", "raw_syscalls:sys_enter").lines().toList();
        assertThat(times(shown)).hasSizeGreaterThan(300).isEqualTo(times(recorded));
    }

    /** Names may differ: the report knows a thread's last one. */
    private static List<String> times(List<String> lines) {
        return lines.stream().map(line -> line.replaceFirst("\"comm\":[^,]*,", "")).toList();
    }

    @Test
    void aReaderThatStopsHoldsUpNeitherTheCommandNorTheRecording() throws Exception {
        String flood = "dd if=/dev/zero of=/dev/null bs=1 count=600000 status=none; echo ended >&2";
        Process process = live("--", "sh", "-c", flood);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!Files.readString(folder.resolve("err")).contains("ended")) {
            assertThat(System.nanoTime()).as("the command's end").isLessThan(deadline);
            Thread.sleep(20);
        }
        List<String> shown = process.inputReader().lines().toList();
        assertThat(process.waitFor()).isZero();
        assertThat(shown).anyMatch(line -> line.startsWith("[NOT SHOWN: about "));
        assertThat(shown).hasSizeLessThan(2_400_000);
        String sql = "SELECT count(*) >= 600000 AS whole FROM slice WHERE name = 'read'";
        assertThat(Sonde.in(folder).run("query", "r.sonde", sql).out()).contains("true");
    }
}
