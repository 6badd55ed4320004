package sonde.recording.tracedat;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.binary.Input;
import sonde.event.Lane;
import sonde.recording.tracedat.TraceDatReader.SpoolFile;
import sonde.recording.tracedat.TraceDatWriter.BufferPages;
import sonde.recording.tracedat.TraceDatWriter.CpuPages;
import sonde.recording.tracedat.TraceDatWriter.PageOrigin;

/** Events of this kernel, written by us, read by trace-cmd. */
@Tag("kernel")
class TraceDatWriterKernelTest {
    private static final Path TRACEFS = Path.of("/sys/kernel/tracing");

    @TempDir Path folder;

    @ParameterizedTest
    @CsvSource({"false, false", "false, true", "true, true"})
    void traceCmdReadsWithoutWarning(boolean compressed, boolean hasZstd) throws Exception {
        List<Path> spools = record();
        TraceDatMetadata metadata = metadata(spools.size());
        Path file = folder.resolve("trace.dat");
        try (FileChannel target =
                FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            List<BufferPages> buffers = new ArrayList<>();
            for (String name : List.of("", "second")) {
                List<CpuPages> cpus = new ArrayList<>();
                for (int cpu = 0; cpu < spools.size(); cpu++) {
                    FileChannel spool = FileChannel.open(spools.get(cpu));
                    cpus.add(new CpuPages(cpu, spool, 0, spool.size()));
                }
                buffers.add(new BufferPages(name, "mono", 4096, cpus));
            }
            new TraceDatWriter(target, PageOrigin.HERE, compressed, hasZstd)
                    .write(metadata, buffers);
            for (BufferPages buffer : buffers) {
                for (CpuPages cpu : buffer.cpus()) {
                    cpu.spool().close();
                }
            }
        }
        String report = traceCmd("report", "-i", file.toString());
        assertThat(traceCmd("report", "--stat", "-i", file.toString())).contains("CPU: 0");
        assertThat(traceCmd("dump", "--all", "-i", file.toString()))
                .contains("[buffer \"second\", \"mono\" clock, 4096 page size");
        try (TraceDatRecording recording = TraceDatRecording.of(Input.open(file))) {
            assertThat(recording.buffers()).containsExactly("", "second");
            assertThat(recording.notes()).isEmpty();
            List<String> ours = masked(TraceDatRecordingTest.listing(recording));
            List<String> theirs = masked(report.substring(report.indexOf('\n') + 1));
            assertThat(ours).hasSizeGreaterThan(20);
            // Equal times of the two buffers may come in either order.
            assertThat(ours).containsExactlyInAnyOrderElementsOf(theirs);
        }
        assertSpoolsReadAlike(metadata, spools, ours(file));
    }

    private static int ours(Path file) throws IOException {
        try (TraceDatRecording recording = TraceDatRecording.of(Input.open(file))) {
            return TraceDatRecordingTest.listing(recording).length();
        }
    }

    private void assertSpoolsReadAlike(TraceDatMetadata metadata, List<Path> spools, int length)
            throws IOException {
        List<SpoolFile> inputs = new ArrayList<>();
        for (String name : List.of("", "second")) {
            for (int cpu = 0; cpu < spools.size(); cpu++) {
                Input input = Input.open(spools.get(cpu));
                inputs.add(new SpoolFile(name, "mono", 4096, cpu, input));
            }
        }
        try (TraceDatRecording recording = TraceDatRecording.ofSpools(metadata, inputs)) {
            assertThat(recording.lanes()).extracting(Lane::buffer).contains("", "second");
            assertThat(TraceDatRecordingTest.listing(recording)).hasSize(length);
        }
    }

    private static List<String> masked(String listing) {
        // The letter of the state: conformance/known-differences/trace-cmd.md.
        return listing.lines().map(line -> line.replaceAll("\\S+ ==> ", "* ==> ")).toList();
    }

    private List<Path> record() throws Exception {
        Path instance = TRACEFS.resolve("instances/sonde-test-" + ProcessHandle.current().pid());
        Files.createDirectory(instance);
        try {
            write(instance, "trace_clock", "mono");
            write(instance, "events/sched/sched_switch/enable", "1");
            write(instance, "events/raw_syscalls/enable", "1");
            new ProcessBuilder("true").start().waitFor();
            write(instance, "tracing_on", "0");
            write(instance, "events/enable", "0");
            List<Path> spools = new ArrayList<>();
            for (int cpu = 0; Files.exists(instance.resolve("per_cpu/cpu" + cpu)); cpu++) {
                spools.add(drain(instance.resolve("per_cpu/cpu" + cpu), cpu));
            }
            return spools;
        } finally {
            Files.delete(instance);
        }
    }

    private Path drain(Path perCpu, int cpu) throws IOException {
        Path spool = folder.resolve("cpu" + cpu);
        try (FileChannel in = FileChannel.open(perCpu.resolve("trace_pipe_raw"));
                FileChannel out =
                        FileChannel.open(
                                spool, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            ByteBuffer page = ByteBuffer.allocate(4096);
            // Reading an empty ring would wait.
            while (!text(perCpu.resolve("stats")).startsWith("entries: 0")) {
                page.clear();
                in.read(page);
                page.clear();
                out.write(page);
            }
        }
        return spool;
    }

    private static void write(Path instance, String file, String value) throws IOException {
        Files.writeString(instance.resolve(file), value);
    }

    private static TraceDatMetadata metadata(int cpus) throws IOException {
        SortedMap<String, List<byte[]>> formats = new TreeMap<>();
        for (String system : List.of("sched", "raw_syscalls")) {
            formats.put(system, formats(system));
        }
        List<byte[]> stats = new ArrayList<>();
        for (int cpu = 0; cpu < cpus; cpu++) {
            stats.add(
                    ("CPU: " + cpu + "\nentries: 0\noverrun: 0").getBytes(StandardCharsets.UTF_8));
        }
        return new TraceDatMetadata(
                bytes(TRACEFS.resolve("events/header_page")),
                bytes(TRACEFS.resolve("events/header_event")),
                formats("ftrace"),
                formats,
                bytes(Path.of("/proc/kallsyms")),
                bytes(TRACEFS.resolve("printk_formats")),
                "1 init\n".getBytes(StandardCharsets.UTF_8),
                cpus,
                stats,
                "local global [mono]",
                "Linux host 6 x86_64",
                42,
                "sonde test");
    }

    private static List<byte[]> formats(String system) throws IOException {
        List<byte[]> formats = new ArrayList<>();
        try (Stream<Path> events = Files.list(TRACEFS.resolve("events/" + system))) {
            for (Path event : events.sorted().toList()) {
                if (Files.exists(event.resolve("format"))) {
                    formats.add(bytes(event.resolve("format")));
                }
            }
        }
        return formats;
    }

    private static byte[] bytes(Path path) throws IOException {
        try (InputStream in = Files.newInputStream(path)) {
            return in.readAllBytes();
        }
    }

    private static String text(Path path) throws IOException {
        return new String(bytes(path), StandardCharsets.UTF_8);
    }

    private String traceCmd(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("trace-cmd"));
        command.addAll(List.of(arguments));
        Path err = folder.resolve("stderr");
        Process process = new ProcessBuilder(command).redirectError(err.toFile()).start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isZero();
        assertThat(err).content().isEmpty();
        return out;
    }
}
