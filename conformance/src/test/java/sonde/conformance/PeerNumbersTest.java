package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.event.result.Column;
import sonde.event.result.Report;
import sonde.event.result.Table;
import sonde.exchange.export.FileFormat;
import sonde.open.ReportSource;
import sonde.tools.convert.ConvertRecipe;
import sonde.tools.convert.ConvertTarget.FileTarget;
import sonde.tools.query.OutputFormat;
import sonde.tools.query.QueryRecipe;
import sonde.tools.report.ListingOptions;
import sonde.tools.report.ReportOptions;
import sonde.tools.report.ReportRecipe;
import sonde.tools.report.StackOptions;
import sonde.tools.report.StackOptions.SortKey;
import sonde.tools.report.StackOptions.StackOrder;
import sonde.tools.report.section.ReportSections;

/** Numbers of reports against those that perf and trace-cmd give for the same recordings. */
@Tag("product")
class PeerNumbersTest {
    private static final int ALL = Integer.MAX_VALUE;

    /** perf prints microseconds, and cuts them. */
    private static final long PRINTED_NANOS = 1_000;

    @TempDir Path folder;

    private static Path file(String name) {
        String told = System.getProperty("sonde.corpus", System.getenv("SONDE_CORPUS"));
        Path corpus = told != null ? Path.of(told) : Sonde.ROOT.resolve("../shared/corpus");
        Path file = corpus.resolve("traces").resolve(name);
        assumeTrue(Files.exists(file), "no " + file);
        return file;
    }

    private List<String> run(String... command) throws IOException, InterruptedException {
        Path program = Path.of("/usr/bin", command[0]);
        assumeTrue(Files.isExecutable(program), command[0] + " is not installed");
        File out = folder.resolve("out").toFile();
        Process process =
                new ProcessBuilder(command)
                        .redirectOutput(out)
                        .redirectError(folder.resolve("err").toFile())
                        .start();
        process.waitFor();
        byte[] text = Files.readAllBytes(out.toPath());
        return new String(text, StandardCharsets.ISO_8859_1).lines().toList();
    }

    /** Rows of a statement over a recording, as numbers and words. */
    private static List<String[]> sql(Path file, String statement) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (QueryRecipe query = QueryRecipe.open(List.of(file), null, false)) {
            query.run(statement, OutputFormat.CSV, out);
        }
        return out.toString(StandardCharsets.UTF_8)
                .lines()
                .skip(1)
                .map(line -> line.split(","))
                .toList();
    }

    // ---- perf report

    private static final Pattern SHARE =
            Pattern.compile("\\s+[\\d.]+%\\s+(\\d+)\\s+(\\d+)\\s+(\\d+):.*");

    private static final Pattern SAMPLED =
            Pattern.compile("# Samples: .* of event '(cycles|cpu-clock|task-clock)?.*'");

    /** Samples and what they weigh. */
    private record Weighed(long samples, long weight) {
        Weighed plus(Weighed other) {
            return new Weighed(samples + other.samples, weight + other.weight);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "perf_data_converter/quipper/testdata/perf.data.systemwide.1-3.8",
                "perf_data_converter/quipper/testdata/perf.data.systemwide.5-3.8",
                "perf_data_converter/quipper/testdata/perf.data.busy.0-3.4",
                "perf_data_converter/quipper/testdata/perf.data.callgraph-3.4",
                "perf_data_converter/quipper/testdata/perf.data.singleprocess-3.4",
                "perf_data_converter/quipper/testdata/perf.data.forkexit-3.8",
                "perfparser/vector_static_gcc/perf.data",
                "perfparser/vector_static_clang/perf.data",
                "local-6.18/sw-clock-fp.perf.data",
            })
    void sharesOfThreadsAreThoseOfPerfReport(String name) throws Exception {
        Path file = file(name);
        Map<Integer, Weighed> theirs = new TreeMap<>();
        Map<Integer, Weighed> running = new TreeMap<>();
        boolean isOfCpu = false;
        String[] report = {"perf", "report", "-f", "-i", file.toString(), "--stdio"};
        List<String> command = new ArrayList<>(List.of(report));
        command.addAll(List.of("--sort", "pid", "-n", "--show-total-period"));
        command.addAll(List.of("-g", "none", "--no-children"));
        for (String line : run(command.toArray(String[]::new))) {
            Matcher event = SAMPLED.matcher(line);
            isOfCpu = event.matches() ? event.group(1) != null : isOfCpu;
            Matcher matcher = SHARE.matcher(line);
            if (matcher.matches()) {
                Weighed one =
                        new Weighed(
                                Long.parseLong(matcher.group(1)), Long.parseLong(matcher.group(2)));
                theirs.merge(Integer.parseInt(matcher.group(3)), one, Weighed::plus);
                if (isOfCpu) {
                    running.merge(Integer.parseInt(matcher.group(3)), one, Weighed::plus);
                }
            }
        }
        assertThat(theirs).isNotEmpty();
        Map<Integer, Weighed> ours = new TreeMap<>();
        String statement =
                "SELECT tid, count(*), sum(weight) FROM sample JOIN thread USING (utid) GROUP BY 1";
        for (String[] row : sql(file, statement)) {
            Weighed one = new Weighed(Long.parseLong(row[1]), Long.parseLong(row[2]));
            ours.put(Integer.parseInt(row[0]), one);
        }
        assertThat(ours).isEqualTo(theirs);

        running.remove(0); // reports leave the idle task out
        double all = running.values().stream().mapToLong(Weighed::weight).sum();
        Table table = byThread(file);
        List<String> columns = table.columns().stream().map(Column::name).toList();
        int tid = columns.indexOf("tid");
        int share = columns.indexOf("share");
        assertThat(table.rows()).hasSameSizeAs(running.keySet());
        for (List<?> row : table.rows()) {
            Weighed expected = running.get(((Number) row.get(tid)).intValue());
            assertThat((double) row.get(share))
                    .as("share of %s", row)
                    .isCloseTo(expected.weight / all, within(1e-9));
        }
    }

    private static Table byThread(Path file) throws IOException {
        List<SortKey> keys = List.of(SortKey.TID);
        StackOptions stacks = new StackOptions(StackOrder.CALLER, keys, false, false, false);
        ReportOptions options =
                new ReportOptions(
                        ReportSections.named("oncpu"),
                        null,
                        null,
                        Set.of(),
                        List.of(),
                        List.of(),
                        ALL,
                        ListingOptions.ALL,
                        stacks);
        try (ReportSource source = ReportSource.open(file)) {
            Report report = new ReportRecipe(options).run(source);
            return (Table)
                    report.sections().stream()
                            .filter(one -> one.title().equals("on CPU"))
                            .findFirst()
                            .orElseThrow();
        }
    }

    // ---- perf sched timehist

    private static final Pattern TURN =
            Pattern.compile(
                    "\\s+(\\d+)\\.(\\d{6}) \\[(\\d+)]\\s+.*\\[(\\d+)(?:/\\d+)?]"
                            + "\\s+(\\d+\\.\\d{3})\\s+(\\d+\\.\\d{3})\\s+(\\d+\\.\\d{3})\\s*");

    private record Span(long from, long to, String state) {}

    private static long nanos(String millis) {
        return Math.round(Double.parseDouble(millis) * 1e6);
    }

    private static Map<Integer, List<Span>> states(Path file) throws IOException {
        Map<Integer, List<Span>> states = new HashMap<>();
        String statement =
                "SELECT tid, ts, ts + dur, state FROM thread_state JOIN thread USING (utid)"
                        + " ORDER BY utid, ts";
        for (String[] row : sql(file, statement)) {
            Span span = new Span(Long.parseLong(row[1]), Long.parseLong(row[2]), row[3]);
            states.computeIfAbsent(Integer.parseInt(row[0]), tid -> new ArrayList<>()).add(span);
        }
        return states;
    }

    /**
     * How long a thread ran until it was switched out, what it did before, and since its wake-up.
     */
    private record Turn(long ran, long off, long waited) {
        /** Of the span that ends then; null when something about it is unknown. */
        static Turn of(List<Span> spans, long end) {
            for (int i = 0; i < spans.size(); i++) {
                Span run = spans.get(i);
                if (run.state.equals("Running") && Math.abs(run.to - end) < PRINTED_NANOS) {
                    long off = 0;
                    long waited = 0;
                    int at = i - 1;
                    for (; at >= 0 && !spans.get(at).state.equals("Running"); at--) {
                        Span span = spans.get(at);
                        if (span.state.equals("unknown")) {
                            return null;
                        }
                        off += span.to - span.from;
                        waited += span.state.equals("R") ? span.to - span.from : 0;
                    }
                    return at < 0 ? null : new Turn(run.to - run.from, off, waited);
                }
            }
            return null;
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "lisa/870cec7b_tests_trace.dat",
                "lisa/0456cd04_lisa_lisa_self_tests_traces_sched_load_trace.dat",
                "lisa/a2b1d661_tests_trace_idle.dat",
                "lisa/adfb4498_doc_trace_stats.dat",
                "local-6.18/stacks-mono-6.18-v7.dat.gz",
                "local-6.18/events-6.18-v7-zstd.dat",
            })
    void turnsOnTheCpuAreThoseOfPerfSchedTimehist(String name) throws Exception {
        Path file = file(name);
        Path perf = folder.resolve("perf.data");
        new ConvertRecipe().convert(file, perf, new FileTarget(FileFormat.PERFDATA));
        Map<Integer, List<Span>> states = states(file);
        int compared = 0;
        for (String line : run("perf", "sched", "timehist", "-f", "-i", perf.toString())) {
            Matcher matcher = TURN.matcher(line);
            if (!matcher.matches()) {
                continue;
            }
            int tid = Integer.parseInt(matcher.group(4));
            long end =
                    Long.parseLong(matcher.group(1)) * 1_000_000_000
                            + Long.parseLong(matcher.group(2)) * 1_000;
            Turn ours = Turn.of(states.getOrDefault(tid, List.of()), end);
            long ran = nanos(matcher.group(7));
            long off = nanos(matcher.group(5));
            // The first turn that perf sees has no beginning, the first wait of a thread none.
            if (ours == null || ran == 0 || off == 0) {
                continue;
            }
            assertThat(ours.ran).as("ran: %s", line).isCloseTo(ran, within(PRINTED_NANOS));
            assertThat(ours.off).as("off: %s", line).isCloseTo(off, within(2 * PRINTED_NANOS));
            long waited = nanos(matcher.group(6));
            if (waited > 0 && ours.waited > 0) {
                assertThat(ours.waited)
                        .as("waited: %s", line)
                        .isCloseTo(waited, within(2 * PRINTED_NANOS));
            }
            compared++;
        }
        assertThat(compared).isGreaterThanOrEqualTo(5);
    }

    // ---- trace-cmd report

    private static final Pattern EVENT =
            Pattern.compile("\\s*.*-\\d+\\s+\\[\\d+]\\s+[\\d.]+:\\s+([^ :]+):.*");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "lisa/870cec7b_tests_trace.dat",
                "lisa/0456cd04_lisa_lisa_self_tests_traces_sched_load_trace.dat",
                "lisa/a2b1d661_tests_trace_idle.dat",
                "lisa/c54b5e20_tests_trace.dat",
                "lisa/3c2dac83_tests_trace.dat",
                "lisa/adfb4498_doc_trace_stats.dat",
                "local-6.18/events-6.18-v7-zstd.dat",
            })
    void eventsAreCountedAsTraceCmdReportListsThem(String name) throws Exception {
        Path file = file(name);
        Map<String, Long> theirs = new TreeMap<>();
        for (String line : run("trace-cmd", "report", "-R", file.toString())) {
            Matcher matcher = EVENT.matcher(line);
            if (matcher.matches()) {
                theirs.merge(matcher.group(1), 1L, Long::sum);
            }
        }
        assertThat(theirs).isNotEmpty();
        Map<String, Long> ours = new TreeMap<>();
        String statement =
                "SELECT split_part(name::VARCHAR, '.', -1), count(*) FROM events WHERE name NOT"
                        + " LIKE 'notice.%' GROUP BY 1";
        for (String[] row : sql(file, statement)) {
            ours.merge(row[0], Long.valueOf(row[1]), Long::sum);
        }
        assertThat(ours).isEqualTo(theirs);
    }
}
