package sonde.recording.perfdata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.binary.Input;
import sonde.event.Clock;
import sonde.recording.perfdata.PerfRecords.MmapRecord;
import sonde.recording.perfdata.PerfRecords.SampleId;
import sonde.recording.perfdata.TracingData.TracingFormat;
import sonde.sys.SyscallException;

/** What the writer makes is what Debian's perf reads, without a word on stderr. */
@Tag("kernel")
class PerfDataWriterKernelTest {
    private static final String MADE_UP = "00112233445566778899aabbccddeeff00112233";
    private static final int KERNEL = 1;
    private static final int USER = 2;

    @TempDir Path folder;

    @BeforeEach
    void needsPerf() {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/perf")), "no perf");
        assumeTrue(Files.isReadable(TinyRecorder.TRACEFS.resolve("events")), "no tracefs");
    }

    @Test
    void perfReadsARecordingWithoutAWarning() throws Exception {
        Path file = folder.resolve("perf.data");
        record(file, kernelBuildId());

        Output stats = perf("report", "--stats", "-i", file.toString());
        assertThat(stats.err()).isEmpty();
        assertThat(stats.out()).contains("cpu-clock stats", "sched:sched_switch stats", "MMAP2");
        for (List<String> arguments :
                List.of(
                        List.of("script", "-i", file.toString()),
                        List.of("script", "--header", "-i", file.toString()),
                        List.of("report", "--stdio", "-i", file.toString()),
                        List.of("buildid-list", "-i", file.toString()),
                        List.of("evlist", "-v", "-i", file.toString()))) {
            Output output = perf(arguments.toArray(String[]::new));
            assertThat(output.err()).as("stderr of perf %s", arguments).isEmpty();
            assertThat(output.status()).as("perf %s", arguments).isZero();
            assertThat(output.out()).as("perf %s", arguments).isNotBlank();
        }
    }

    @Test
    void perfShowsWhatTheHeaderSays() throws Exception {
        Path file = folder.resolve("perf.data");
        record(file, MADE_UP);

        String header = perf("script", "--header", "-i", file.toString()).out();
        assertThat(header)
                .contains("hostname : sonde-test")
                .contains("os release : 6.18.0-test")
                .contains("arch : x86_64")
                .contains("nrcpus online : 2")
                .contains("nrcpus avail : 4")
                .contains("cmdline : /opt/sonde record -- true")
                .contains("clockid: monotonic (1)")
                .contains("clockid frequency: 1000 MHz")
                .contains("time of first sample : 1.000000")
                .contains("event : name = sched:sched_switch");
        assertThat(perf("buildid-list", "-i", file.toString()).out())
                .contains(MADE_UP + " [kernel.kallsyms]")
                .containsPattern("aabbccddeeff0011 +/usr/bin/short-id");
        assertThat(perf("script", "-i", file.toString()).out())
                .contains("sched:sched_switch: ")
                .contains("==> next_comm=");
    }

    @Test
    void ourReaderReadsTheSame() throws Exception {
        Path file = folder.resolve("perf.data");
        record(file, kernelBuildId());

        try (PerfDataRecording recording = PerfDataRecording.open(Input.open(file), List.of())) {
            List<Rows.Row> rows = Rows.of(recording);
            assertThat(recording.notes()).isEmpty();
            assertThat(recording.sources().getFirst().clock()).isEqualTo(Clock.MONO);
            assertThat(recording.features().tracingData()).isPresent();
            assertThat(rows).extracting(Rows.Row::time).isSorted();
            assertThat(rows).extracting(Rows.Row::type).doesNotContain("notice:corrupt");
            assertThat(rows)
                    .filteredOn(row -> row.type().equals("sched:sched_switch"))
                    .isNotEmpty()
                    // perf_event_pid_type(): a task that has been unhashed by its exit has tid -1
                    .allMatch(
                            row -> row.tid() == -1 || row.field("prev_pid").equals("" + row.tid()))
                    .allMatch(row -> !row.stack().isEmpty());
            assertThat(rows)
                    .filteredOn(row -> row.type().equals("perf:cpu-clock"))
                    .isNotEmpty()
                    .allMatch(row -> row.weight() > 0 && row.cpu() >= 0);
        }
    }

    @Test
    void killedRecordersFileIsReadAndFinished() throws Exception {
        Path file = folder.resolve("perf.data");
        record(file, null);
        Files.write(file, new byte[] {9, 0, 0, 0, 2, 0, 64, 0, 1, 2}, StandardOpenOption.APPEND);
        List<Rows.Row> rows;
        try (PerfDataRecording recording = PerfDataRecording.open(Input.open(file), List.of())) {
            rows = Rows.of(recording);
            assertThat(recording.isFinished()).isFalse();
            assertThat(recording.features().hostname()).isEqualTo("sonde-test");
            assertThat(rows.getLast().type()).isEqualTo("notice:corrupt");
        }
        int fd = TinyRecorder.open(file);
        try (Input input = Input.open(file);
                PerfDataWriter writer = PerfDataWriter.resume(fd, input)) {
            writer.finish(late(kernelBuildId()));
        } finally {
            TinyRecorder.closeDescriptor(fd);
        }
        try (PerfDataRecording recording = PerfDataRecording.open(Input.open(file), List.of())) {
            assertThat(Rows.of(recording)).isEqualTo(rows.subList(0, rows.size() - 1));
            assertThat(recording.notes()).isEmpty();
        }
        Output script = perf("script", "-i", file.toString());
        assertThat(script.err()).isEmpty();
        assertThat(script.out()).contains("sched:sched_switch: ");
    }

    @Test
    void fullDiskKeepsWhatWasWritten() throws Exception {
        Path disk = Files.createDirectory(folder.resolve("disk"));
        run("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk.toString());
        try {
            Path file = disk.resolve("perf.data");
            int fd = TinyRecorder.create(file);
            long kept;
            try (TinyRecorder recorder = new TinyRecorder();
                    PerfDataWriter writer = PerfDataWriter.create(fd, recorder.attrs, early())) {
                PerfRecords records = new PerfRecords(recorder.dummy);
                SampleId stamp = new SampleId(1, 1, 5, 0, 0);
                assertThatThrownBy(
                                () -> {
                                    while (true) {
                                        writer.appendSynthetic(
                                                records.comm(stamp, 1, 1, "name", false));
                                    }
                                })
                        .isInstanceOf(SyscallException.class)
                        .hasMessageContaining("ENOSPC");
                kept = writer.dataBytes();
                assertThat(kept).isPositive();
                writer.finish(PerfFeatures.NONE);
            } finally {
                TinyRecorder.closeDescriptor(fd);
            }
            try (PerfDataRecording recording =
                    PerfDataRecording.open(Input.open(file), List.of())) {
                assertThat(recording.dataBytes()).isEqualTo(kept);
                assertThat(Rows.of(recording)).allMatch(row -> row.field("comm").equals("name"));
                assertThat(recording.features().hostname()).isEqualTo("sonde-test");
            }
        } finally {
            run("umount", disk.toString());
        }
    }

    private static void run(String... command) throws Exception {
        assertThat(new ProcessBuilder(command).inheritIO().start().waitFor()).isZero();
    }

    private static void record(Path file, @Nullable String kernelId) throws IOException {
        int fd = TinyRecorder.create(file);
        try (TinyRecorder recorder = new TinyRecorder();
                PerfDataWriter writer = PerfDataWriter.create(fd, recorder.attrs, early())) {
            recorder.enable();
            synthesise(recorder, writer);
            for (int round = 0; round < 4; round++) {
                burn(50_000_000);
                recorder.drain(writer);
            }
            recorder.disable();
            recorder.drain(writer);
            if (kernelId != null) {
                writer.finish(late(kernelId));
            }
        } finally {
            TinyRecorder.closeDescriptor(fd);
        }
    }

    private static void burn(long nanos) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() < end) {
            if (end % 3 == 0) {
                Thread.yield();
            } else {
                Thread.onSpinWait();
            }
        }
    }

    private static void synthesise(TinyRecorder recorder, PerfDataWriter writer)
            throws IOException {
        PerfRecords records = new PerfRecords(recorder.dummy);
        long id = recorder.attrs.get(0).ids()[0];
        SampleId stamp = new SampleId(-1, -1, 0, id, 0);
        int self = (int) ProcessHandle.current().pid();
        long text = 0xffffffff81000000L;
        writer.appendSynthetic(
                records.mmap(
                        stamp,
                        KERNEL,
                        new MmapRecord(-1, 0, text, 0x2000000, text, "[kernel.kallsyms]_text")));
        writer.appendSynthetic(records.comm(stamp, self, self, "java", false));
        writer.appendSynthetic(records.fork(stamp, self, self, self + 1, self));
        MmapRecord mapping = new MmapRecord(self, self, 0x400000, 0x1000, 0, "/usr/bin/true");
        writer.appendSynthetic(records.mmap2(stamp, USER, mapping, 8, 1, 77, 5, 2));
        writer.appendSynthetic(
                records.mmap2(stamp, USER, mapping, "00112233445566778899aabbccddeeff", 5, 2));
        writer.appendSynthetic(
                records.ksymbol(stamp, 0xffffffffc0000000L, 64, 1, 0, "bpf_prog_0011_x"));
        writer.appendSynthetic(records.exit(stamp, self, self, self + 1, self));
    }

    private static PerfFeatures early() throws IOException {
        TracingFormat format =
                new TracingFormat("sched", TinyRecorder.text("events/sched/sched_switch/format"));
        return PerfFeatures.builder()
                .hostname("sonde-test")
                .osRelease("6.18.0-test")
                .version("0.1.0")
                .arch("x86_64")
                .cpus(4, 2)
                .cpuDescription("A processor")
                .commandLine(List.of("/opt/sonde", "record", "--", "true"))
                .clock(1, 1, System.currentTimeMillis() * 1_000_000, System.nanoTime())
                .tracingData(
                        TracingData.of(
                                TinyRecorder.text("events/header_page"),
                                TinyRecorder.text("events/header_event"),
                                List.of(format)))
                .build();
    }

    /** The GNU build id among the notes: u32 name size 4, u32 size 20, u32 type 3, "GNU". */
    private static String kernelBuildId() throws IOException {
        String notes = HexFormat.of().formatHex(Files.readAllBytes(Path.of("/sys/kernel/notes")));
        int at = notes.indexOf("040000001400000003000000474e5500");
        assumeTrue(at >= 0, "the kernel has no build id of 20 bytes");
        return notes.substring(at + 32, at + 72);
    }

    private static PerfFeatures late(String kernelId) {
        return PerfFeatures.builder()
                .sampleTime(1_000_000_000L, 2_000_000_000L)
                .buildIds(
                        List.of(
                                new BuildId(-1, true, kernelId, "[kernel.kallsyms]"),
                                new BuildId(-1, false, "aabbccddeeff0011", "/usr/bin/short-id")))
                .build();
    }

    /** What perf said. */
    private record Output(int status, String out, String err) {}

    private Output perf(String... arguments) throws IOException, InterruptedException {
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        ProcessBuilder builder = new ProcessBuilder("/usr/bin/perf");
        builder.command().addAll(List.of(arguments));
        builder.environment().put("HOME", folder.toString());
        builder.environment().put("PAGER", "cat");
        Process process =
                builder.redirectInput(new java.io.File("/dev/null"))
                        .redirectOutput(out.toFile())
                        .redirectError(err.toFile())
                        .start();
        int status = process.waitFor();
        return new Output(status, Files.readString(out), Files.readString(err));
    }
}
