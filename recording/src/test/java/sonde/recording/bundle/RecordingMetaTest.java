package sonde.recording.bundle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import sonde.binary.MalformedInputException;
import sonde.recording.bundle.RecordingMeta.BundleLayout;
import sonde.recording.bundle.RecordingMeta.BundlePart;
import sonde.recording.bundle.RecordingMeta.CommandExit;
import sonde.recording.bundle.RecordingMeta.EventOwner;
import sonde.recording.bundle.RecordingMeta.RecordedLoss;
import sonde.recording.bundle.RecordingMeta.RecordedMachine;
import sonde.recording.bundle.RecordingMeta.RecordedRing;
import sonde.recording.bundle.RecordingMeta.RecordedTarget;
import sonde.recording.bundle.RecordingMeta.RecordingState;
import sonde.recording.bundle.RecordingMeta.RecordingTimes;
import sonde.recording.bundle.RecordingMeta.TargetMode;

class RecordingMetaTest {
    private static final RecordingMeta SAMPLE =
            new RecordingMeta(
                    1,
                    "0.1.0",
                    RecordingState.FINISHED,
                    new RecordedTarget(
                            TargetMode.COMMAND,
                            List.of("sh", "-c", "echo \"ä\n\""),
                            List.of(4711),
                            new CommandExit(0x100, 1, 2, 3, 4, 5, 6, 7),
                            List.of(
                                    new RecordingMeta.TargetReading(
                                            "private", "sh 4711", 4096, 8192, 16384))),
                    new RecordingMeta.Recorder(12, List.of(12, 13), 99, 5_000_000, 1 << 20),
                    new RecordedMachine(
                            "host",
                            "6.1.0",
                            "x86_64",
                            "b-i-d",
                            4026531836L,
                            List.of(0, 1),
                            1L << 34),
                    new RecordingTimes(10, 20, 30, 40),
                    new BundleLayout(
                            List.of(
                                    new EventOwner(
                                            "sched:sched_switch",
                                            "perf.data",
                                            "",
                                            "stack",
                                            true,
                                            "",
                                            Map.of("whole", 7L, "no rows at /x+0x1", 1L))),
                            List.of(new RecordedRing("trace.dat", "outside", 1 << 20, true)),
                            List.of(
                                    new BundlePart(
                                            "spool.task.cpu0",
                                            RecordingMeta.PartKind.SPOOL,
                                            "",
                                            0))),
                    List.of(
                            new RecordedLoss(
                                    "perf.data", "x", 1, RecordingMeta.LossKind.RING_FULL, -1)),
                    List.of(
                            new RecordingMeta.Descriptors(
                                    4711, 11, Map.of(0, "/dev/null", 3, "pipe:[5]"))),
                    List.of(new RecordingMeta.JvmMap(4711, "jvm.4711.map", 12)),
                    List.of("no PMU: cpu-clock"));

    @Test
    void whatIsWrittenIsReadAgain() throws IOException {
        assertThat(MetaReader.read(MetaWriter.write(SAMPLE))).isEqualTo(SAMPLE);
    }

    @Test
    void unknownKeysAndKindsAreIgnoredMissingOnesAreEmpty() throws IOException {
        RecordingMeta meta =
                read(
                        """
                        {"formatVersion": 7, "colour": {"deep": [1, 2.5, null]},
                         "losses": [{"source": "etw", "kind": "moth", "count": 3}]}
                        """);
        assertThat(meta.state()).isEqualTo(RecordingState.RECORDING);
        assertThat(meta.times().endNanos()).isEqualTo(-1);
        assertThat(meta.losses())
                .containsExactly(new RecordedLoss("etw", "", -1, RecordingMeta.LossKind.OTHER, 3));
    }

    /** Twenty thousand times the same part took a minute, and its events counted as often. */
    @Test
    void partsThatAreRepeatedAreReadOnce() throws IOException {
        String part = "{\"name\": \"perf.data\", \"kind\": \"perf_data\"}";
        String parts = String.join(", ", Collections.nCopies(20_000, part));
        String layout = "{\"parts\": [" + parts + "]}";
        RecordingMeta meta = read("{\"formatVersion\": 1, \"layout\": " + layout + "}");
        assertThat(meta.layout().parts()).hasSize(1);
        assertThat(meta.notes())
                .containsExactly("meta.json names parts more than once; each is read once.");
    }

    @Test
    void pathsOutOfTheBundleAreRefused() {
        for (String name : List.of("../x", "/etc/passwd", "", "..", "a/b")) {
            assertThatThrownBy(() ->
                            read(
                                    "{\"formatVersion\":1,\"layout\":{\"parts\":[{\"name\":\""
                                            + name
                                            + "\"}]}}"))
                    .isInstanceOf(MalformedInputException.class)
                    .hasMessageContaining("no file name");
        }
    }

    @Test
    void damageNeverGivesAnotherException() {
        byte[] good = MetaWriter.write(SAMPLE);
        Random random = new Random(42);
        int refused = 0;
        for (int i = 0; i < 3000; i++) {
            byte[] bad = good.clone();
            for (int n = 1 + random.nextInt(3); n > 0; n--) {
                bad[random.nextInt(bad.length)] = (byte) random.nextInt(256);
            }
            try {
                MetaReader.read(bad);
            } catch (MalformedInputException e) {
                refused++;
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
        assertThat(refused).isGreaterThan(100);
        for (String text :
                List.of("", "[]", "{", "{}", "[".repeat(5000), "{\"formatVersion\":1e9}")) {
            assertThatThrownBy(() -> read(text)).isInstanceOf(MalformedInputException.class);
        }
    }

    private static RecordingMeta read(String text) throws IOException {
        return MetaReader.read(text.getBytes(StandardCharsets.UTF_8));
    }
}
