package sonde.conformance.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.recording.perfdata.PerfAbi;
import sonde.recording.perfdata.PerfDataReader;
import sonde.recording.perfdata.PerfDescription;

/** perf.data files of many makers read as perf itself reads them. */
class PerfDataConformanceTest {
    /** perf's names of records whose rows we have, and our types for them. */
    private static final Map<String, List<String>> RECORDS =
            Map.ofEntries(
                    Map.entry("MMAP", List.of("perf_record:mmap")),
                    Map.entry("MMAP2", List.of("perf_record:mmap2")),
                    Map.entry("COMM", List.of("perf_record:comm")),
                    Map.entry("FORK", List.of("perf_record:fork")),
                    Map.entry("EXIT", List.of("perf_record:exit")),
                    Map.entry("THROTTLE", List.of("notice:throttle")),
                    Map.entry("UNTHROTTLE", List.of("notice:unthrottle")),
                    Map.entry("KSYMBOL", List.of("perf_record:ksymbol")),
                    Map.entry("BPF_EVENT", List.of("perf_record:bpf_event")),
                    Map.entry("NAMESPACES", List.of("perf_record:namespaces")),
                    Map.entry("CGROUP", List.of("perf_record:cgroup")),
                    Map.entry("SWITCH", List.of("perf_record:switch")),
                    Map.entry("SWITCH_CPU_WIDE", List.of("perf_record:switch_cpu_wide")),
                    Map.entry("AUX", List.of("perf_record:aux")),
                    Map.entry("ITRACE_START", List.of("perf_record:itrace_start")));

    private static final Pattern COUNT = Pattern.compile("\\s*(\\w+) events:\\s+(\\d+).*");

    private static final Pattern SAMPLE = Pattern.compile("\\s*-?\\d+/-?\\d+\\s*([\\d.]+:\\s*)?");

    /** Files that perf 6.1 cannot read: see known-differences/perf.md. */
    private static final Set<String> REFUSED = Set.of("cpp-inlining.perf.data");

    /** Pipes whose records {@code perf report} does not read to the end. */
    private static final Set<String> CUT_BY_REPORT = Set.of("probe.data.stream");

    @TempDir Path folder;

    static List<Path> recordings() throws IOException {
        return PerfCorpus.recordings();
    }

    static List<Path> crashers() throws IOException {
        return PerfCorpus.crashers();
    }

    @Test
    void theCorpusIsThere() throws IOException {
        assumeTrue(Files.isDirectory(PerfCorpus.folder()), "no corpus at " + PerfCorpus.folder());
        assertThat(PerfCorpus.recordings()).hasSizeGreaterThan(35);
        assertThat(PerfCorpus.crashers()).isNotEmpty();
    }

    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("recordings")
    void countsEqualPerfReportStats(Path file) throws Exception {
        assumeTrue(!CUT_BY_REPORT.contains(file.getFileName().toString()), "perf report stops");
        Map<String, Long> expected = statistics(file);
        Map<String, Long> rows = count(file);

        Map<String, Long> records = new TreeMap<>();
        RECORDS.forEach((name, types) -> records.put(name, sum(rows, types)));
        RECORDS.keySet().forEach(name -> expected.putIfAbsent(name, 0L));
        long samples =
                rows.entrySet().stream()
                        .filter(e -> !e.getKey().startsWith("perf_record:"))
                        .filter(e -> !e.getKey().startsWith("notice:"))
                        .mapToLong(Map.Entry::getValue)
                        .sum();
        records.put("SAMPLE", samples);
        Map<String, Long> compared = new TreeMap<>(expected);
        compared.keySet().retainAll(records.keySet());
        assertThat(records).isEqualTo(compared);
        assertThat(rows).doesNotContainKey("notice:corrupt");
    }

    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("recordings")
    void samplesEqualPerfScript(Path file) throws Exception {
        List<String> ours = samples(file);
        List<String> theirs = new ArrayList<>();
        for (String line :
                perf("script", "--no-itrace", "--ns", "-F", "pid,tid,time", "-i", file + "")) {
            // Pipe mode forgets -F and prints call chains as well.
            if (SAMPLE.matcher(line).matches()) {
                theirs.add(line.strip().replaceAll("\\s+", " "));
            }
        }
        assertThat(ours).isEqualTo(theirs);
    }

    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("crashers")
    void hostileFilesAreRefusedOrRead(Path file) throws IOException {
        try {
            assertThat(count(file)).isNotNull();
        } catch (MalformedInputException e) {
            assertThat(e).hasMessageContaining("perf.data");
        }
    }

    private static long sum(Map<String, Long> rows, List<String> types) {
        return types.stream().mapToLong(type -> rows.getOrDefault(type, 0L)).sum();
    }

    private static Map<String, Long> count(Path file) throws IOException {
        Map<String, Long> counts = new TreeMap<>();
        each(
                file,
                (recording, batch, row) -> {
                    EventType type = batch.source().types().get(batch.type(row));
                    counts.merge(type.qualifiedName(), 1L, Long::sum);
                });
        return counts;
    }

    /** {@code pid/tid seconds.nanoseconds:} of each sample, as perf script prints it. */
    private static List<String> samples(Path file) throws IOException {
        List<String> lines = new ArrayList<>();
        Map<Integer, Long> bits = new HashMap<>();
        each(
                file,
                (recording, batch, row) -> {
                    if (bits.isEmpty()) {
                        for (int i = 0; i < recording.attrs().size(); i++) {
                            long type = recording.attrs().get(i).attr().sampleType();
                            bits.put(recording.typeOf(i).id(), type);
                        }
                    }
                    Long sampled = bits.get(batch.type(row));
                    if (sampled != null) {
                        boolean timed = (sampled & PerfAbi.PERF_SAMPLE_TIME) != 0;
                        long time = batch.time(row);
                        String stamp =
                                String.format(
                                        " %d.%09d:", time / 1_000_000_000, time % 1_000_000_000);
                        lines.add(batch.pid(row) + "/" + batch.tid(row) + (timed ? stamp : ""));
                    }
                });
        return lines;
    }

    /** Sees one row. */
    private interface Visitor {
        void row(PerfDescription recording, Batch batch, int row);
    }

    private static void each(Path file, Visitor visitor) throws IOException {
        try (Recording recording = PerfDataReader.open(Input.open(file))) {
            PerfDescription perf = recording.capability(PerfDescription.class).orElseThrow();
            for (Lane lane : recording.lanes()) {
                try (lane) {
                    for (Batch batch = lane.next(); batch != null; batch = lane.next()) {
                        for (int row = 0; row < batch.size(); row++) {
                            visitor.row(perf, batch, row);
                        }
                    }
                }
            }
        }
    }

    /** The first block of {@code perf report --stats}: all records by type. */
    private Map<String, Long> statistics(Path file) throws Exception {
        Map<String, Long> counts = new TreeMap<>();
        boolean inside = false;
        for (String line : perf("report", "--stats", "-i", file.toString())) {
            Matcher count = COUNT.matcher(line);
            if (line.startsWith("Aggregated")) {
                inside = true;
            } else if (inside && count.matches()) {
                counts.put(count.group(1), Long.parseLong(count.group(2)));
            } else if (inside) {
                break;
            }
        }
        return counts;
    }

    private List<String> perf(String... arguments) throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/perf")), "no perf");
        Path out = folder.resolve("out");
        List<String> command = new ArrayList<>(List.of("/usr/bin/perf"));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("HOME", folder.toString());
        builder.environment().put("PAGER", "cat");
        builder.redirectInput(new java.io.File("/dev/null"));
        builder.redirectOutput(out.toFile()).redirectError(ProcessBuilder.Redirect.DISCARD);
        int status = builder.start().waitFor();
        String input = Path.of(arguments[arguments.length - 1]).getFileName().toString();
        assumeTrue(status == 0 || !REFUSED.contains(input), "perf 6.1 refuses " + input);
        assertThat(status).as("%s", command).isZero();
        return Files.readAllLines(out, java.nio.charset.StandardCharsets.ISO_8859_1);
    }
}
