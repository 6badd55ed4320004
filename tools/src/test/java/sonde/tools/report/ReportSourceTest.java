package sonde.tools.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.event.result.Listing.ListingForm;
import sonde.open.ReportSource;
import sonde.probe.tracefs.InstanceName;
import sonde.recording.bundle.MetaReader;
import sonde.recording.bundle.MetaWriter;
import sonde.recording.bundle.RecordingMeta;
import sonde.recording.bundle.RecordingMeta.BundleLayout;
import sonde.recording.bundle.RecordingMeta.BundlePart;
import sonde.recording.bundle.RecordingMeta.RecordedLoss;
import sonde.recording.bundle.RecordingMeta.RecordedMachine;
import sonde.recording.bundle.RecordingMeta.RecordedTarget;
import sonde.recording.bundle.RecordingMeta.RecordingState;
import sonde.recording.bundle.RecordingMeta.RecordingTimes;
import sonde.recording.bundle.RecordingMeta.TargetMode;
import sonde.testkit.CtfTrace;
import sonde.testkit.RingPage;
import sonde.testkit.TraceDatBytes;
import sonde.tools.report.section.ReportSections;

/** Bundles in every state that a recorder can leave them in. */
final class ReportSourceTest {
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    /** TRACECMD_OPTION_CPUSTAT of trace-cmd's trace-cmd-private.h. */
    private static final int CPUSTAT = 2;

    /** A process that runs, other than the reader itself. */
    private static final int LIVING = (int) ProcessHandle.current().parent().orElseThrow().pid();

    @TempDir Path folder;

    private RecordingMeta meta(RecordingState state, String bootId, long startTicks)
            throws IOException {
        List<BundlePart> parts =
                List.of(
                        new BundlePart(
                                "kernel.formats", RecordingMeta.PartKind.KERNEL_FORMATS, "", -1),
                        new BundlePart("spool.cpu0", RecordingMeta.PartKind.SPOOL, "", 0),
                        new BundlePart("spool.cpu1", RecordingMeta.PartKind.SPOOL, "", 1));
        return new RecordingMeta(
                RecordingMeta.FORMAT_VERSION,
                "test",
                state,
                new RecordedTarget(TargetMode.ALL, List.of(), List.of(), null),
                new RecordingMeta.Recorder(LIVING, List.of(), startTicks, -1, -1),
                new RecordedMachine(
                        "host",
                        "6.1",
                        "x86_64",
                        bootId,
                        InstanceName.namespace(),
                        List.of(0, 1),
                        1),
                new RecordingTimes(1000, 0, -1, -1),
                new BundleLayout(List.of(), List.of(), parts),
                List.of(),
                List.of(),
                List.of(),
                List.of());
    }

    private void write(RecordingMeta meta) throws IOException {
        TraceDatBytes format = new TraceDatBytes(ORDER, 8);
        RingPage page = new RingPage(ORDER, 8, TraceDatBytes.PAGE, 5000);
        page.event(10, format.hello(7, 1, "one")).event(20, format.hello(7, 2, "two"));
        Files.write(folder.resolve("spool.cpu0"), page.toBytes());
        Files.write(folder.resolve("spool.cpu1"), new byte[0]);
        Files.write(folder.resolve("kernel.formats"), format.version7(false));
        Files.write(folder.resolve(RecordingMeta.FILE), MetaWriter.write(meta));
    }

    private static long events(ReportSource source) throws IOException {
        return new ReportOperators(source, ReportOptions.of(List.of()), List.of(), false)
                .extent()
                .events();
    }

    @Test
    void aRecordingUnderWayIsRefusedAndLeftAlone() throws IOException {
        write(
                meta(
                        RecordingState.RECORDING,
                        InstanceName.bootId(),
                        InstanceName.startTicks(LIVING)));
        byte[] before = Files.readAllBytes(folder.resolve(RecordingMeta.FILE));
        assertThatThrownBy(() -> ReportSource.open(folder))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("still being recorded by process " + LIVING);
        assertThat(folder.resolve("spool.cpu0")).exists();
        assertThat(Files.readAllBytes(folder.resolve(RecordingMeta.FILE))).isEqualTo(before);
    }

    @Test
    void aBundleOfAKilledRecorderIsFinished() throws IOException {
        write(meta(RecordingState.RECORDING, InstanceName.bootId(), 1));
        try (ReportSource source = ReportSource.open(folder)) {
            assertThat(events(source)).isEqualTo(2);
            assertThat(source.notes())
                    .anyMatch(note -> note.contains("the recorder did not finish"));
        }
        RecordingMeta now = MetaReader.read(Files.readAllBytes(folder.resolve(RecordingMeta.FILE)));
        assertThat(now.state()).isEqualTo(RecordingState.REPAIRED);
        assertThat(folder.resolve("trace.dat")).exists();
        assertThat(folder.resolve("spool.cpu0")).doesNotExist();
    }

    @Test
    void spoolsOfAFullDiskAreAssembledWhenThereIsSpace() throws IOException {
        // After ENOSPC the recorder ends properly, its spools stay.
        write(meta(RecordingState.FINISHED, InstanceName.bootId(), 1));
        try (ReportSource source = ReportSource.open(folder)) {
            assertThat(events(source)).isEqualTo(2);
        }
        assertThat(folder.resolve("trace.dat")).exists();
        assertThat(folder.resolve("spool.cpu0")).doesNotExist();
    }

    /** What meta.json says must not depend on what the folder is packed in. */
    @Test
    void aBundleInAnArchiveIsTheBundle() throws IOException {
        RecordedLoss loss =
                new RecordedLoss("trace.dat", "", 1, RecordingMeta.LossKind.RING_FULL, 7);
        RecordingMeta killed = meta(RecordingState.FINISHED, InstanceName.bootId(), 1);
        RecordingMeta bundle =
                new RecordingMeta(
                        killed.formatVersion(),
                        killed.sondeVersion(),
                        killed.state(),
                        new RecordedTarget(TargetMode.COMMAND, List.of("x"), List.of(7), null),
                        killed.recorder(),
                        killed.machine(),
                        killed.times(),
                        killed.layout(),
                        List.of(loss),
                        List.of(),
                        List.of(),
                        List.of());
        write(bundle);
        Path archive = folder.resolve("packed.zip");
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(archive))) {
            for (String part :
                    List.of(RecordingMeta.FILE, "kernel.formats", "spool.cpu0", "spool.cpu1")) {
                zip.putNextEntry(new ZipEntry("made.sonde/" + part));
                zip.write(Files.readAllBytes(folder.resolve(part)));
            }
        }
        try (ReportSource packed = ReportSource.open(archive);
                ReportSource plain = ReportSource.open(folder)) {
            assertThat(packed.tree()).isEqualTo(plain.tree());
            assertThat(packed.tree().all()).isFalse();
            assertThat(packed.losses()).isEqualTo(plain.losses()).containsExactly(loss);
            assertThat(events(packed)).isEqualTo(events(plain)).isPositive();
        }
    }

    /** trace-cmd keeps the rings' accounts in options; nothing else may tell what was lost. */
    @Test
    void aTraceDatSaysWhatItsRingsLost() throws IOException {
        TraceDatBytes file = new TraceDatBytes(ORDER, 8);
        RingPage page = new RingPage(ORDER, 8, TraceDatBytes.PAGE, 5000);
        page.event(10, file.hello(7, 1, "one"));
        String account = "CPU: 3\nentries: 0\noverrun: 5\ncommit overrun: 2\ndropped events: 1\n";
        file.cpu(page.toBytes()).option(CPUSTAT, file.bytes().ascii(account));
        Path trace = Files.write(folder.resolve("trace.dat"), file.version7(false));
        try (ReportSource source = ReportSource.open(trace)) {
            assertThat(source.losses())
                    .containsExactly(
                            new RecordedLoss(
                                    "trace.dat", "", 3, RecordingMeta.LossKind.RING_FULL, 6),
                            new RecordedLoss(
                                    "trace.dat", "", 3, RecordingMeta.LossKind.COMMIT_OVERRUN, 2));
        }
    }

    @Test
    void symbolsOfAnotherBootDoNotComeFromThisMachine() throws IOException {
        write(meta(RecordingState.FINISHED, "another", 1));
        try (ReportSource source = ReportSource.open(folder)) {
            assertThat(source.symbolOptions().sameMachine()).isFalse();
        }
    }

    @Test
    void procIsTheRunningSystem() throws IOException {
        long own = ProcessHandle.current().pid();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (ReportSource source = ReportSource.open(Path.of("proc:" + own))) {
            new ReportRecipe(ReportOptions.of(List.of()))
                    .events(source)
                    .rows()
                    .writeTo(out, ListingForm.JSON_LINES);
        }
        assertThat(out.toString(StandardCharsets.UTF_8))
                .contains("\"event\":\"proc:process\",\"fields\":{\"pid\":" + own + ",")
                .contains("\"event\":\"proc:mapping\"")
                .doesNotContain("proc:module");
        assertThatThrownBy(() -> ReportSource.open(Path.of("proc:x")))
                .isInstanceOf(IOException.class);
    }

    @Test
    void aFolderOfCtf() throws IOException {
        CtfTrace trace = new CtfTrace(ORDER);
        trace.metadata(
                CtfTrace.TSDL
                        + "stream { id = 0; event.header := struct { time64 timestamp; };"
                        + CtfTrace.PACKET_CONTEXT
                        + "}; event { name = \"p:one\"; fields := struct { string s; }; };");
        CtfTrace.Packet packet = trace.packet(0).time(1, 9).discarded(2);
        trace.append("channel_0", packet.put(5, 64).text("hello"));
        for (Map.Entry<String, byte[]> file : trace.files().entrySet()) {
            Path place = folder.resolve("ust").resolve(file.getKey());
            Files.createDirectories(folder.resolve("ust"));
            Files.write(place, file.getValue());
        }
        for (Path given : List.of(folder, folder.resolve("ust/metadata"))) {
            try (ReportSource source = ReportSource.open(given)) {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                ReportRecipe recipe =
                        new ReportRecipe(ReportOptions.of(List.of(ReportSections.SUMMARY)));
                recipe.events(source).rows().writeTo(out, ListingForm.TEXT);
                assertThat(out.toString(StandardCharsets.UTF_8))
                        .endsWith(
                                ".000000010] (+?.?????????) box:app:(7) p:one: { cpu_id = 0 },"
                                        + " { s = \"hello\" }\n");
                assertThat(source.notes())
                        .singleElement()
                        .asString()
                        .endsWith("channel_0: the tracer discarded 2 events.");
            }
        }
    }
}
