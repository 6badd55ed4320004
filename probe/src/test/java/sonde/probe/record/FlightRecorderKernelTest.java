package sonde.probe.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sonde.probe.plan.RecordSpec;
import sonde.recording.bundle.RecordingMeta;
import sonde.recording.bundle.RecordingMeta.RecordedLoss;
import sonde.recording.bundle.RecordingMeta.TargetMode;

/** A recording far longer than its rings keeps its end, in both files. */
@Tag("kernel")
@Timeout(120)
class FlightRecorderKernelTest {
    /** Starts short processes one after the other and says when, and which. */
    private static final String SCRIPT =
            "for i in $(seq 1 400); do sleep 0.01 & echo $! $(cat /proc/uptime) >> %s; wait; done";

    @TempDir private static Path scratch;

    private static Path said;
    private static RecordingMeta meta;

    /** A process that the script says it started, at about this CLOCK_BOOTTIME. */
    private record Started(int pid, double seconds) {}

    /** Both tests look at one recording. */
    @BeforeAll
    static void record() throws Exception {
        said = scratch.resolve("said");
        RecordSpec spec = RecordSpec.of(TargetMode.COMMAND).withRingLimit(8 << 20).keepingTheEnd();
        List<String> command = List.of("sh", "-c", SCRIPT.formatted(said));
        RecordDriver.Stopped child = RecordDriver.Stopped.start(command);
        try (BundleFolder folder = RecordDriver.folder(scratch.resolve("flight.sonde"));
                RecordSession session =
                        RecordSession.start(
                                RecordDriver.plan(spec),
                                folder,
                                RecordDriver.request(command, child.pid()))) {
            child.go();
            child.process().waitFor();
            meta = session.stop(null);
        } finally {
            child.process().destroyForcibly();
        }
    }

    @Test
    void theEndIsWholeInBothFiles() throws Exception {
        List<Started> all = new ArrayList<>();
        for (String line : Files.readAllLines(said)) {
            String[] words = line.split(" ");
            all.add(new Started(Integer.parseInt(words[0]), Double.parseDouble(words[1])));
        }
        assertThat(all).hasSize(400);

        String perf = tool("perf", "script", "--show-task-events", "-i", "perf.data");
        String trace = tool("trace-cmd", "report", "trace.dat");
        // Names and life of the first are there although its switches are overwritten.
        assertThat(perf).containsPattern("PERF_RECORD_COMM.*: sleep:" + all.getFirst().pid);
        assertThat(perf).containsPattern("PERF_RECORD_EXIT\\(" + all.getFirst().pid + ":");
        assertThat(switchesFrom(perf, all.getFirst())).isFalse();
        // Block I/O has a buffer of its own, which is not full.
        assertThat(trace.lines().filter(line -> !line.startsWith("outside:")))
                .noneMatch(line -> line.contains("sleep-" + all.getFirst().pid + " "));

        for (Started last : since(all, meta, "perf.data")) {
            assertThat(switchesFrom(perf, last))
                    .as("%s in perf.data, %s", last, meta.notes())
                    .isTrue();
        }
        for (Started last : since(all, meta, "trace.dat")) {
            assertThat(trace)
                    .as("%s in trace.dat", last)
                    .containsPattern("sched_process_exec:.* pid=" + last.pid + " ")
                    .containsPattern("sched_process_exit:.* pid=" + last.pid + " ");
        }
    }

    @Test
    void whatWasOverwrittenIsCounted() {
        assertThat(meta.losses())
                .extracting(RecordedLoss::kind)
                .containsOnly(RecordingMeta.LossKind.OVERWRITTEN);
        assertThat(meta.losses())
                .filteredOn(loss -> loss.subject().equals("sched:sched_switch"))
                .isNotEmpty()
                .allSatisfy(loss -> assertThat(loss.count()).isPositive());
        assertThat(meta.losses())
                .filteredOn(loss -> loss.source().equals("trace.dat"))
                .isNotEmpty()
                .allSatisfy(loss -> assertThat(loss.count()).isPositive());
    }

    /**
     * Switches away only: of those from the idle task Linux 6.18 in a virtual machine leaves out
     * about half, for ftrace, perf and BPF alike.
     */
    private static boolean switchesFrom(String script, Started process) {
        return Pattern.compile("sched:sched_switch:.*prev_pid=" + process.pid + " ")
                .matcher(script)
                .find();
    }

    /** Seconds before the end from which on the recorder says that nothing is missing. */
    private static double whole(RecordingMeta meta, String part) {
        Pattern said =
                Pattern.compile("flight recorder: " + part + " is whole for the last (\\S+)");
        for (String note : meta.notes()) {
            Matcher matcher = said.matcher(note);
            if (matcher.find()) {
                return Double.parseDouble(matcher.group(1));
            }
        }
        throw new AssertionError(part + " does not say since when it is whole: " + meta.notes());
    }

    /** Those that said so well after the time from which on a part is whole. */
    private static List<Started> since(List<Started> all, RecordingMeta meta, String part) {
        // /proc/uptime has hundredths of a second, and is read some time after the start.
        double from = meta.times().endNanos() / 1e9 - whole(meta, part) + 0.1;
        List<Started> late = all.stream().filter(one -> one.seconds > from).toList();
        assertThat(late).hasSizeGreaterThan(3).hasSizeLessThan(all.size());
        return late;
    }

    private String tool(String... words) throws Exception {
        List<String> line = new ArrayList<>(List.of(words));
        line.set(line.size() - 1, scratch.resolve("flight.sonde/" + line.getLast()).toString());
        Path out = scratch.resolve("out");
        Path err = scratch.resolve("err");
        Process process =
                new ProcessBuilder(line)
                        .redirectInput(Path.of("/dev/null").toFile())
                        .redirectOutput(out.toFile())
                        .redirectError(err.toFile())
                        .start();
        assertThat(process.waitFor()).isZero();
        assertThat(err).isEmptyFile();
        return Files.readString(out, java.nio.charset.StandardCharsets.ISO_8859_1);
    }
}
