package sonde.tools.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.open.ReportSource;
import sonde.probe.tracefs.InstanceName;
import sonde.recording.bundle.MetaWriter;
import sonde.recording.bundle.RecordingMeta;
import sonde.recording.bundle.RecordingMeta.BundleLayout;
import sonde.recording.bundle.RecordingMeta.BundlePart;
import sonde.recording.bundle.RecordingMeta.RecordedMachine;
import sonde.recording.bundle.RecordingMeta.RecordedTarget;
import sonde.recording.bundle.RecordingMeta.RecordingState;
import sonde.recording.bundle.RecordingMeta.RecordingTimes;
import sonde.recording.bundle.RecordingMeta.TargetMode;
import sonde.sys.MachineFacts;
import sonde.testkit.PerfDataBytes;
import sonde.tools.report.section.ReportSections;

final class LeftPerfMapsTest {
    /** Near the greatest there can be: PID_MAX_LIMIT of include/linux/threads.h is 4 Mi. */
    private static final int PID = (4 << 20) - 3;

    private static final int HOSTNAME = 3;
    private static final int OSRELEASE = 4;

    @TempDir Path folder;

    private Path recording(String hostname) throws IOException {
        PerfDataBytes file = new PerfDataBytes(ByteOrder.LITTLE_ENDIAN);
        file.event(file.attr(1, 0, 1 | 2 | 4, 0, 0), 1);
        PerfDataBytes.Fields map = file.fields().u32(PID).u32(PID).u64(0x7f0000000000L);
        file.record(1, 2, map.u64(0x1000).u64(0).text("//anon", 8));
        file.record(3, 0, file.fields().u32(PID).u32(PID).text("jit", 8));
        for (int i = 1; i < 3; i++) {
            PerfDataBytes.Fields sample = file.fields().u64(0x7f0000000120L).u32(PID).u32(PID);
            file.record(9, 2, sample.u64(1_000_000L * i));
        }
        file.feature(HOSTNAME, file.headerString(hostname));
        file.feature(OSRELEASE, file.headerString(MachineFacts.uname().release()));
        return Files.write(folder.resolve("perf.data"), file.file());
    }

    private static String named(Path file) throws IOException {
        try (ReportSource source = ReportSource.open(file)) {
            return new String(LeftPerfMaps.read(source, PID), StandardCharsets.UTF_8);
        }
    }

    /** The same as a part of a bundle of this machine. */
    private Path bundle(String bootId) throws IOException {
        MachineFacts.Uname own = MachineFacts.uname();
        Path made = Files.createDirectories(folder.resolve("jit.sonde"));
        Files.copy(
                recording(own.node()),
                made.resolve("perf.data"),
                StandardCopyOption.REPLACE_EXISTING);
        RecordingMeta meta =
                new RecordingMeta(
                        RecordingMeta.FORMAT_VERSION,
                        "test",
                        RecordingState.FINISHED,
                        new RecordedTarget(TargetMode.ALL, List.of(), List.of(), null),
                        new RecordingMeta.Recorder(1, List.of(), 1, -1, -1),
                        new RecordedMachine(
                                own.node(),
                                own.release(),
                                own.machine(),
                                bootId,
                                InstanceName.namespace(),
                                List.of(0),
                                1),
                        new RecordingTimes(0, 0, -1, 3_000_000),
                        new BundleLayout(
                                List.of(),
                                List.of(),
                                List.of(
                                        new BundlePart(
                                                "perf.data",
                                                RecordingMeta.PartKind.PERF_DATA,
                                                "",
                                                -1))),
                        List.of(),
                        List.of(),
                        List.of(),
                        List.of());
        Files.write(made.resolve(RecordingMeta.FILE), MetaWriter.write(meta));
        return made;
    }

    @Test
    void bundlesOfThisBootHaveThem() throws IOException {
        Path list = Path.of("/tmp/perf-" + PID + ".map");
        Files.writeString(list, "7f0000000100 40 compiled\n");
        ReportOptions options = ReportOptions.of(ReportSections.named("oncpu"));
        try {
            try (ReportSource source = ReportSource.open(bundle(InstanceName.bootId()))) {
                assertThat(new ReportRecipe(options).run(source).toString()).contains("compiled");
            }
            assertThat(named(bundle("another boot"))).isEmpty();
        } finally {
            Files.deleteIfExists(list);
        }
    }

    @Test
    void listsOfThisMachineCount() throws IOException {
        Path list = Path.of("/tmp/perf-" + PID + ".map");
        String text = "7f0000000100 40 compiled\n";
        Files.writeString(list, text);
        try {
            assertThat(named(recording(MachineFacts.uname().node()))).isEqualTo(text);
            assertThat(named(recording("elsewhere"))).isEmpty();
            ReportOptions options = ReportOptions.of(ReportSections.named("oncpu"));
            Path file = recording(MachineFacts.uname().node());
            try (ReportSource source = ReportSource.open(file)) {
                assertThat(new ReportRecipe(options).run(source).toString()).contains("compiled");
            }
            Files.delete(list);
            Files.createSymbolicLink(list, file);
            assertThat(named(file)).isEmpty();
        } finally {
            Files.deleteIfExists(list);
        }
    }
}
