package sonde.probe.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.binary.Input;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.probe.plan.Feature;
import sonde.probe.plan.FeatureFinding;
import sonde.probe.plan.FeatureFinding.FindingAnswer;
import sonde.probe.plan.KernelFeatureProbe;
import sonde.probe.plan.KernelFeatures;
import sonde.probe.plan.RecordPlan;
import sonde.probe.plan.RecordSpec;
import sonde.recording.bundle.RecordingMeta;
import sonde.recording.bundle.RecordingMeta.BundlePart;
import sonde.recording.bundle.RecordingMeta.CommandExit;
import sonde.recording.bundle.RecordingMeta.RecordingState;
import sonde.recording.bundle.RecordingMeta.TargetMode;
import sonde.recording.perfdata.PerfDataReader;
import sonde.sys.Clocks;

/**
 * A kernel in lockdown, where root may not read kernel memory: the last class of a guest's list,
 * for nothing but a boot ends it.
 */
@Tag("inguest")
class LockdownInGuestTest {
    private static final Path SECURITY = Path.of("/sys/kernel/security");

    @TempDir private Path scratch;

    @Test
    void whatIsRefusedIsSaidAndTheRestIsRecorded() throws Exception {
        assumeTrue(Boolean.getBoolean("sonde.inguest"), "would lock this machine down");
        if (!Files.exists(SECURITY.resolve("lockdown"))) {
            new ProcessBuilder("mount", "-t", "securityfs", "none", SECURITY.toString())
                    .inheritIO()
                    .start()
                    .waitFor();
        }
        Files.writeString(SECURITY.resolve("lockdown"), "confidentiality");
        KernelFeatures features = KernelFeatureProbe.probe();
        FeatureFinding tracefs = features.finding(Feature.TRACEFS);
        assertThat(tracefs.answer()).isEqualTo(FindingAnswer.NO);
        assertThat(tracefs.reason()).endsWith(", kernel lockdown is confidentiality");

        RecordPlan plan = RecordDriver.plan(RecordSpec.of(TargetMode.COMMAND));
        assertThat(plan.gaps().toString()).contains("kernel lockdown is confidentiality");
        List<String> busy = List.of("dd", "if=/dev/zero", "of=/dev/null", "bs=64k", "count=20000");
        RecordDriver.Stopped child = RecordDriver.Stopped.start(busy);
        try (BundleFolder folder = RecordDriver.folder(scratch.resolve("locked"));
                RecordSession session =
                        RecordSession.start(
                                plan, folder, RecordDriver.request(busy, child.pid()))) {
            child.go();
            session.released(Clocks.nanos(Clocks.CLOCK_MONOTONIC));
            int status = child.process().waitFor();
            RecordingMeta meta = session.stop(new CommandExit(status << 8, 0, 0, 0, 0, 0, 0, 0));
            assertThat(status).isZero();
            assertThat(meta.state()).isEqualTo(RecordingState.FINISHED);
            assertThat(meta.layout().parts())
                    .extracting(BundlePart::kind)
                    .containsExactly(RecordingMeta.PartKind.PERF_DATA);
        }
        assertThat(samples(scratch.resolve("locked/perf.data"))).isGreaterThan(20);
    }

    private static int samples(Path file) throws Exception {
        int samples = 0;
        try (Recording read = PerfDataReader.open(Input.open(file))) {
            for (Lane lane : read.lanes()) {
                for (Batch batch = lane.next(); batch != null; batch = lane.next()) {
                    for (int row = 0; row < batch.size(); row++) {
                        EventType type = lane.source().types().get(batch.type(row));
                        samples += type.system().equals("perf") ? 1 : 0;
                    }
                }
            }
        }
        return samples;
    }
}
