package sonde.conformance.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.binary.Input;
import sonde.binary.archive.UnwrapLimits;
import sonde.binary.archive.UnwrappedFiles;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.FrameNames;
import sonde.event.Lane;
import sonde.recording.text.TextFormat;
import sonde.recording.text.TextRecording;

/** The texts of the corpus, and what stackcollapse-perf made of its perf script outputs. */
class TextCorpusTest {
    private static Path corpus() {
        String told = System.getProperty("sonde.corpus", System.getenv("SONDE_CORPUS"));
        Path folder =
                told != null
                        ? Path.of(told)
                        : Path.of(System.getProperty("sonde.root", "."), "../shared/corpus");
        assumeTrue(Files.isDirectory(folder), "no corpus at " + folder);
        return folder;
    }

    /** What a text holds: rows by event, and how many lines could not be read. */
    private record Counts(TextFormat format, Map<String, Long> rows, long corrupt) {
        long all() {
            return rows.values().stream().mapToLong(Long::longValue).sum();
        }
    }

    private interface Rows {
        void row(Batch batch, int row, TextRecording recording);
    }

    private static TextFormat read(Path file, Rows rows) throws IOException {
        try (UnwrappedFiles unwrapped = UnwrappedFiles.of(Input.open(file), UnwrapLimits.DEFAULT);
                TextRecording text = TextRecording.open(unwrapped.inputs().getFirst())) {
            for (Lane lane : text.lanes()) {
                for (Batch batch = lane.next(); batch != null; batch = lane.next()) {
                    for (int row = 0; row < batch.size(); row++) {
                        rows.row(batch, row, text);
                    }
                }
            }
            return text.format();
        }
    }

    private static Counts count(Path file) throws IOException {
        Map<String, Long> rows = new TreeMap<>();
        long[] corrupt = {0};
        TextFormat format =
                read(
                        file,
                        (batch, row, text) -> {
                            EventType type = batch.source().types().get(batch.type(row));
                            boolean bad = type.name().equals("corrupt");
                            corrupt[0] += bad ? batch.weight(row) : 0;
                            rows.merge(bad ? "corrupt" : type.qualifiedName(), 1L, Long::sum);
                        });
        return new Counts(format, rows, corrupt[0]);
    }

    private static List<Path> files(String folder, String glob) throws IOException {
        List<Path> files = new ArrayList<>();
        Path at = corpus().resolve(folder);
        if (Files.isDirectory(at)) {
            try (var stream = Files.newDirectoryStream(at, glob)) {
                stream.forEach(files::add);
            }
        }
        Collections.sort(files);
        assumeTrue(!files.isEmpty(), "no " + folder + " in the corpus");
        return files;
    }

    @Test
    void everyTextOfTheKernelsDocumentationIsReadWhole() throws IOException {
        for (Path file : files("traces/ftrace-text", "*.txt")) {
            Counts counts = count(file);
            assertThat(counts.format()).as(file.toString()).isEqualTo(TextFormat.FTRACE);
            long prose = file.toString().contains("28_histogram") ? 100 : 3;
            assertThat(counts.corrupt()).as(file.toString()).isLessThanOrEqualTo(prose);
        }
    }

    @Test
    void everyTextOfLisaIsReadWhole() throws IOException {
        for (String glob : List.of("*_trace*.txt*", "*.html*")) {
            for (Path file : files("traces/lisa", glob)) {
                Counts counts = count(file);
                assertThat(counts.format())
                        .as(file.toString())
                        .isIn(TextFormat.FTRACE, TextFormat.SYSTRACE);
                assertThat(counts.corrupt()).as(file + " " + counts).isZero();
                assertThat(counts.rows().keySet())
                        .as(file.toString())
                        .noneMatch(name -> name.startsWith("text:raw"));
            }
        }
    }

    /** {@code trace-cmd report} of a trace.dat has a line per event: the counts are those. */
    @ParameterizedTest
    @CsvSource({
        "traces/lisa/oracle,870cec7b_tests_trace.dat.report-t.txt.gz",
        "kernel/stock61,a6.dat.report.txt",
        "kernel/stock61,a6.dat.report-tR.txt",
        "kernel/stock61,b.dat.report.txt",
        "kernel/stock61,d.dat.report.txt",
        "kernel/stock61,c-func-stack.dat.report.txt",
        "kernel/stock61,e-instances.dat.report.txt",
        "kernel/stock61,raw-trace.txt",
        "kernel/stock61,text-latency-format.txt",
        "kernel/stock61,text-function_graph-full.txt",
        "kernel/stock612,p-trace.txt",
        "kernel/stock612,text-fields.txt",
        "kernel/dbg61/E,irqsoff-functions.txt",
        "kernel/dbg61/E,timerlat.txt",
    })
    void everyLineOfAReportIsARow(String folder, String name) throws IOException {
        Path file = corpus().resolve(folder).resolve(name);
        assumeTrue(Files.exists(file), "no " + file);
        Counts counts = count(file);
        assertThat(counts.corrupt()).as(counts.toString()).isZero();
        long lines;
        try (UnwrappedFiles unwrapped = UnwrappedFiles.of(Input.open(file), UnwrapLimits.DEFAULT)) {
            byte[] bytes =
                    unwrapped
                            .inputs()
                            .getFirst()
                            .segment()
                            .toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
            lines =
                    new String(bytes, java.nio.charset.StandardCharsets.ISO_8859_1)
                            .lines()
                            .filter(line -> isEvent(line))
                            .count();
        }
        assertThat(counts.all()).isEqualTo(lines);
    }

    /** An entry of a histogram begins with a bracket, whatever else belongs to it. */
    @ParameterizedTest
    @CsvSource({
        "stock61/hist-kmalloc.txt",
        "stock61/hist-stack.txt",
        "stock61/hist-log2.txt",
        "stock61/hist-syscall.txt",
        "stock61/synth-hist.txt",
        "stock61/synth-hist-onmax.txt",
    })
    void everyEntryOfAHistogramIsARow(String name) throws IOException {
        Path file = corpus().resolve("kernel").resolve(name);
        assumeTrue(Files.exists(file), "no " + file);
        List<String> lines = Files.readAllLines(file);
        long entries = lines.stream().filter(line -> line.startsWith("{ ")).count();
        long hits =
                lines.stream()
                        .filter(line -> line.startsWith("    Hits: "))
                        .mapToLong(line -> Long.parseLong(line.substring(10)))
                        .sum();
        long[] weight = {0};
        assertThat(read(file, (batch, row, text) -> weight[0] += batch.weight(row)))
                .isEqualTo(TextFormat.HISTOGRAM);
        assertThat(weight[0]).isEqualTo(hits);
        Counts counts = count(file);
        assertThat(counts.corrupt()).as(counts.toString()).isZero();
        assertThat(counts.rows()).containsExactly(Map.entry("ftrace:hist", entries));
    }

    private static boolean isEvent(String line) {
        String text = line.strip();
        return !text.isEmpty()
                && (!text.startsWith("#") || text.matches("# latency: [1-9].*"))
                && !text.startsWith("=>")
                && !text.startsWith("cpus=")
                && !text.startsWith("CPU ")
                && !text.startsWith("version =")
                && !text.startsWith("---")
                && !text.contains("==========")
                && !text.matches("\\d+\\) .*=>.*");
    }

    @Test
    void logsOfTheKernel() throws IOException {
        Path iso =
                corpus().resolve("traces/Microsoft-Performance-Tools-Linux-Android/dmesg.iso.log");
        assumeTrue(Files.exists(iso), "no " + iso);
        long lines = Files.readAllLines(iso).stream().filter(line -> !line.isBlank()).count();
        Counts counts = count(iso);
        assertThat(counts.format()).isEqualTo(TextFormat.DMESG);
        assertThat(counts.rows()).containsExactly(Map.entry("log:printk", lines));
    }

    /**
     * Sums by thread's name and chain equal those of stackcollapse-perf: names made tidy as it
     * does, its first event only, weights as it takes them. It drops a last sample that no empty
     * line ends.
     */
    @ParameterizedTest
    @CsvSource({
        "perf-dd-stacks-01",
        "perf-funcab-cmd-01",
        "perf-funcab-pid-01",
        "perf-iperf-stacks-pidtid-01",
        "perf-java-faults-01",
        "perf-java-stacks-01",
        "perf-java-stacks-02",
        "perf-js-stacks-01",
        "perf-mirageos-stacks-01",
        "perf-numa-stacks-01",
        "perf-rust-Yamakaky-dcpu",
        "perf-cycles-instructions-01",
    })
    void chainsEqualTheFoldedOnes(String name) throws IOException {
        Path folder = corpus().resolve("traces/FlameGraph/test");
        Path text = either(folder.resolve(name + ".txt"));
        Path folded = either(folder.resolve("results/" + name + "-collapsed-pid.txt"));
        assertThat(sums(text, true)).isEqualTo(sums(folded, false));
    }

    private static Path either(Path file) {
        Path packed = Path.of(file + ".zst");
        assumeTrue(Files.exists(file) || Files.exists(packed), "no " + file);
        return Files.exists(file) ? file : packed;
    }

    private static Collection<String> sums(Path file, boolean script) throws IOException {
        Map<String, Long> sums = new TreeMap<>();
        Map<Integer, String> comms = new HashMap<>();
        String[] first = {""};
        String[] last = {""};
        long[] weight = {0};
        read(
                file,
                (batch, row, text) -> {
                    if (comms.isEmpty()) {
                        comms.putAll(text.threadNames().orElseThrow());
                    }
                    EventType type = batch.source().types().get(batch.type(row));
                    if (type.qualifiedName().equals("perf_record:comm")) {
                        comms.put(
                                (int) type.integer("tid").of(batch, row),
                                type.string("comm").of(batch, row));
                        return;
                    }
                    first[0] = first[0].isEmpty() ? type.qualifiedName() : first[0];
                    if (!first[0].equals(type.qualifiedName()) || batch.stackDepth(row) == 0) {
                        return;
                    }
                    String comm = comm(comms, batch, row, script);
                    last[0] = chain(comm, batch, row, text.frames());
                    weight[0] = batch.weight(row);
                    sums.merge(last[0], weight[0], Long::sum);
                });
        if (script && !endsInEmptyLine(file)) {
            sums.merge(last[0], -weight[0], Long::sum);
        }
        sums.values().removeIf(sum -> sum == 0);
        return sums.entrySet().stream()
                .map(entry -> entry.getKey() + " " + entry.getValue())
                .toList();
    }

    private static boolean endsInEmptyLine(Path file) throws IOException {
        try (UnwrappedFiles unwrapped = UnwrappedFiles.of(Input.open(file), UnwrapLimits.DEFAULT)) {
            Input input = unwrapped.inputs().getFirst();
            long end = input.sizeBytes();
            return input.segment().get(java.lang.foreign.ValueLayout.JAVA_BYTE, end - 2) == '\n';
        }
    }

    private static String comm(Map<Integer, String> comms, Batch batch, int row, boolean script) {
        int tid = batch.tid(row);
        String comm = tid == 0 && script ? "swapper" : comms.getOrDefault(tid, "?");
        if (!script) {
            return comm;
        }
        int pid = batch.pid(row);
        return comm.replace(' ', '_') + "-" + (pid < 0 ? "?" : String.valueOf(pid));
    }

    private static String chain(String comm, Batch batch, int row, FrameNames frames) {
        StringBuilder chain = new StringBuilder(comm);
        for (int i = batch.stackDepth(row) - 1; i >= 0; i--) {
            chain.append(';').append(tidy(frames.frame(batch.stackEntry(row, i)).name()));
        }
        return chain.toString();
    }

    /** What stackcollapse-perf's --tidy-generic and --tidy-java do to a name. */
    private static String tidy(String name) {
        String tidy = name.replace(';', ':');
        if (!tidy.matches(".*\\.\\(.*\\)\\..*")) {
            tidy = tidy.replaceFirst("\\((?!anonymous namespace\\)).*", "");
        }
        tidy = tidy.replaceAll("[\"']", "");
        return tidy.startsWith("L") && tidy.contains("/") ? tidy.substring(1) : tidy;
    }
}
