package sonde.tools.report;

import static org.assertj.core.api.Assertions.within;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.assertj.core.api.SoftAssertions;
import sonde.analysis.EventCounts.TypeCount;
import sonde.analysis.LossAccount.LossRow;
import sonde.analysis.sched.StateTotals;
import sonde.analysis.sched.ThreadState;
import sonde.analysis.stack.SampleTypes;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.event.result.CallTree;
import sonde.event.result.Column;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.Timeline;
import sonde.event.result.TimelineSamples;
import sonde.event.result.Unit;
import sonde.open.ReportSource;
import sonde.tools.convert.ConvertRecipe;
import sonde.tools.convert.ConvertRecipe.ConvertOutcome;
import sonde.tools.convert.ConvertTarget;
import sonde.tools.query.OutputFormat;
import sonde.tools.query.QueryRecipe;
import sonde.tools.report.section.ReportSections;

/** The relations that hold between the numbers of any recording, in all its views. */
final class NumberChecks {
    /**
     * A sample of what runs stands for the time before it: as much may lie before the first row.
     */
    /** Fewer than a page has. */
    private static final int FEW_TRACKS = 200;

    private static final long LONGEST_SAMPLE_NANOS = 10_000_000_000L;

    private static final long MINUTE_NANOS = 60_000_000_000L;
    private static final double ROUNDING = 1e-6;
    private static final int ALL_ROWS = Integer.MAX_VALUE;

    private static final List<String> NONE = List.of();

    /** The formats that are read again, and have a place for losses. */
    private static final List<String> READ_AGAIN =
            List.of("tracedat", "perfdata", "ctf", "ctf1", "perfetto", "parquet");

    private final SoftAssertions all;
    private final ReportOperators found;
    private final List<Result> text;
    private final Timeline page;

    private NumberChecks(SoftAssertions all, ReportSource source) throws IOException {
        this.all = all;
        ReportOptions options =
                new ReportOptions(
                        ReportSections.ALL, null, null, Set.of(), List.of(), List.of(), ALL_ROWS);
        List<AnalysisKey<?>> needed = new ArrayList<>(TimelineMaker.NEEDS);
        options.sections().forEach(section -> needed.addAll(section.needs()));
        found = new ReportOperators(source, options, needed, true);
        page = new TimelineMaker(found, FEW_TRACKS).timeline();
        text = new ReportRecipe(options).report(source, found).sections();
    }

    /** What a walk over all rows counts, without any operator. */
    private record Rows(
            long first, long last, int cpus, long lost, Map<String, Long> counts, long all) {
        static Rows of(ReportSource source) throws IOException {
            long first = Long.MAX_VALUE;
            long last = Long.MIN_VALUE;
            long lost = 0;
            long all = 0;
            BitSet cpus = new BitSet();
            Map<String, Long> counts = new TreeMap<>();
            for (Recording recording : source.recordings()) {
                for (Lane lane : recording.lanes()) {
                    for (Batch batch = lane.next(); batch != null; batch = lane.next()) {
                        for (int row = 0; row < batch.size(); row++) {
                            EventType type = batch.source().types().get(batch.type(row));
                            first = Math.min(first, batch.time(row));
                            last = Math.max(last, batch.time(row));
                            if (batch.cpu(row) >= 0) {
                                cpus.set(batch.cpu(row));
                            }
                            lost += type.system().equals(EventType.NOTICE) ? count(batch, row) : 0;
                            counts.merge(type.system() + "." + type.name(), 1L, Long::sum);
                            all++;
                        }
                    }
                    lane.close();
                }
            }
            return new Rows(first, last, cpus.cardinality(), lost, counts, all);
        }

        private static long count(Batch batch, int row) {
            return Math.max(0, batch.weight(row));
        }
    }

    /** Checks one recording; what does not hold is added to the assertions. */
    static void check(SoftAssertions all, Path file, boolean withSql) throws IOException {
        NumberChecks checks;
        try (ReportSource source = ReportSource.open(file)) {
            checks = new NumberChecks(all, source);
            Rows rows = Rows.of(source);
            checks.threads(rows);
            checks.page();
            checks.shares();
            checks.losses(source, rows);
            checks.counts(rows);
            checks.halves(source, rows);
        } catch (NothingMatchesException e) {
            return;
        }
        if (withSql) {
            try (QueryRecipe query = QueryRecipe.open(List.of(file), null, false)) {
                checks.sql(query);
            }
        }
    }

    private void threads(Rows rows) {
        StateTotals totals = found.totals();
        long first = Long.MAX_VALUE;
        long last = Long.MIN_VALUE;
        long running = 0;
        for (int thread = 0; thread < found.threads().size(); thread++) {
            if (!totals.has(thread)) {
                continue;
            }
            String name = found.threadName(thread);
            long sum = 0;
            for (ThreadState state : ThreadState.values()) {
                all.assertThat(totals.nanos(thread, state)).as(name).isNotNegative();
                sum += totals.nanos(thread, state);
            }
            all.assertThat(sum).as("states of " + name).isEqualTo(totals.wallNanos(thread));
            all.assertThat(totals.kernelNanos(thread))
                    .as("kernel time of " + name)
                    .isBetween(0L, totals.nanos(thread, ThreadState.RUNNING));
            all.assertThat(totals.last(thread))
                    .as("end of " + name)
                    .isLessThanOrEqualTo(found.threads().died(thread));
            if (!found.isEstimated()) {
                all.assertThat(totals.first(thread))
                        .as("beginning of " + name)
                        .isGreaterThanOrEqualTo(found.threads().born(thread));
            }
            first = Math.min(first, totals.first(thread));
            last = Math.max(last, totals.last(thread));
            running += totals.nanos(thread, ThreadState.RUNNING);
        }
        if (first < last) {
            long early = found.isEstimated() ? LONGEST_SAMPLE_NANOS : 0;
            boolean told = found.meta() != null;
            all.assertThat(first)
                    .as("first moment")
                    .isGreaterThanOrEqualTo(
                            told
                                    ? found.meta().times().startNanos() - MINUTE_NANOS
                                    : rows.first - early);
            all.assertThat(last)
                    .as("last moment")
                    .isLessThanOrEqualTo(
                            told ? found.meta().times().endNanos() + MINUTE_NANOS : rows.last);
            if (rows.cpus > 0) {
                all.assertThat(running)
                        .as("CPU time of " + rows.cpus + " CPUs in " + (last - first))
                        .isLessThanOrEqualTo(rows.cpus * (last - first));
            }
        }
    }

    private void page() {
        long off = 0;
        for (ThreadState state : ThreadState.values()) {
            long nanos = found.total(state);
            boolean running = state == ThreadState.RUNNING || state == ThreadState.UNKNOWN;
            off += running ? 0 : nanos;
            all.assertThat(page.stateNanos()[state.ordinal()])
                    .as("page: " + state)
                    .isEqualTo(nanos);
            long tracks =
                    page.tracks().stream()
                            .filter(track -> track.stateNanos().length > 0)
                            .mapToLong(track -> track.stateNanos()[state.ordinal()])
                            .sum();
            all.assertThat(tracks).as("tracks of the page: " + state).isEqualTo(nanos);
        }
        all.assertThat(weight("off-cpu")).as("page: off-CPU").isEqualTo(off);
        all.assertThat(tree("off-CPU stacks").root().total()).as("off-CPU").isEqualTo(off);
        all.assertThat(weight("on-cpu"))
                .as("page: on-CPU")
                .isEqualTo(tree("on-CPU stacks").root().total());
    }

    private long weight(String name) {
        TimelineSamples samples =
                page.samples().stream().filter(one -> one.name().equals(name)).findFirst().get();
        return Arrays.stream(samples.weight()).sum();
    }

    private CallTree tree(String title) {
        return (CallTree) titled(title);
    }

    private Result titled(String title) {
        // The summary has the first rows of some tables, too.
        return text.reversed().stream().filter(one -> one.title().equals(title)).findFirst().get();
    }

    @SuppressWarnings({"unchecked", "NullAway"}) // cells may be null
    private static List<List<Object>> rows(Table table) {
        return (List<List<Object>>) (List<?>) table.rows();
    }

    /** Shares of the functions are of what the tree's root weighs; no shares are more than all. */
    private void shares() {
        long sampled = tree("on-CPU stacks").root().total();
        long[] chainless = {0};
        found.samples()
                .forEach((thread, node, weight, count) ->
                        chainless[0] += node < 0 && found.shown(thread) ? weight : 0);
        for (Result result : text) {
            if (!(result instanceof Table table)) {
                continue;
            }
            for (int column = 0; column < table.columns().size(); column++) {
                Column head = table.columns().get(column);
                if (head.unit() != Unit.SHARE) {
                    continue;
                }
                double sum = 0;
                for (List<Object> row : rows(table)) {
                    double share = row.get(column) == null ? 0 : (double) row.get(column);
                    all.assertThat(share)
                            .as(table.title() + ", " + head.name())
                            .isBetween(0.0, 1 + ROUNDING);
                    sum += share;
                }
                all.assertThat(sum)
                        .as("sum of " + table.title() + ", " + head.name())
                        .isLessThanOrEqualTo(1 + ROUNDING);
                if (table.equals(titled("on CPU")) && sampled > 0) {
                    all.assertThat(sum)
                            .as("shares of functions")
                            .isCloseTo(1 - (double) chainless[0] / sampled, within(ROUNDING));
                }
            }
        }
    }

    /** What happened before a moment and what happened after it are all. */
    private void halves(ReportSource source, Rows rows) throws IOException {
        long middle = (source.firstTime() + rows.last) / 2;
        double second = (middle - source.firstTime()) / 1e9;
        ReportOperators before = part(source, null, second);
        ReportOperators after = part(source, second, null);
        for (ThreadState state : ThreadState.values()) {
            if (found.isEstimated()) {
                continue; // what a sample stands for depends on the ones before it
            }
            all.assertThat(before.total(state) + after.total(state))
                    .as("two parts: " + state)
                    .isEqualTo(found.total(state));
        }
        all.assertThat(before.samples().total() + after.samples().total())
                .as("two parts: samples")
                .isEqualTo(found.samples().total());
    }

    private static boolean isOfLosses(String line) {
        return line.contains("notice:lost") || line.contains("lost event");
    }

    private static ReportOperators part(ReportSource source, Double from, Double to)
            throws IOException {
        ReportOptions options =
                new ReportOptions(List.of(), from, to, Set.of(), List.of(), List.of(), ALL_ROWS);
        return new ReportOperators(source, options, List.of(), false);
    }

    /**
     * What is converted lacks what the source lacks, and its samples weigh the same: by its rows,
     * or by what the command says.
     */
    static void conversions(SoftAssertions all, Path file, Path scratch) throws IOException {
        long lost;
        long samples;
        try (ReportSource source = ReportSource.open(file)) {
            ReportOperators whole = part(source, null, null);
            lost = whole.losses().events();
            samples = whole.samples().total();
        }
        for (String name : lost > 0 ? READ_AGAIN : samples > 0 ? List.of("parquet") : NONE) {
            Path to = scratch.resolve("made." + name);
            ConvertTarget target = ConvertTarget.named(name).orElseThrow();
            if (target.isFolder()) {
                Files.createDirectory(to);
            }
            ConvertOutcome outcome = new ConvertRecipe().convert(file, to, target);
            if (lost > 0) {
                all.assertThat(outcome.notes().toString())
                        .as("notes of a conversion to " + name)
                        .contains(String.format(Locale.ROOT, "%,d events were", lost));
            }
            boolean isSaid = outcome.losses().stream().anyMatch(NumberChecks::isOfLosses);
            try (ReportSource made = ReportSource.open(to)) {
                ReportOperators whole = part(made, null, null);
                if (!isSaid) {
                    all.assertThat(whole.losses().events()).as("losses in " + name).isEqualTo(lost);
                }
                if (name.equals("parquet")) {
                    all.assertThat(whole.samples().total()).as("samples").isEqualTo(samples);
                }
            }
        }
    }

    private static long sum(List<LossRow> rows) {
        return rows.stream()
                .map(LossRow::events)
                .mapToLong(events -> events == null ? 0 : events)
                .sum();
    }

    private void losses(ReportSource source, Rows rows) {
        long events = 0;
        for (List<Object> row : rows((Table) titled("losses"))) {
            events += row.get(3) == null ? 0 : (long) row.get(3);
        }
        all.assertThat(events).as("losses").isEqualTo(sum(found.losses().rows()));
        all.assertThat(events).as("losses told by rows").isGreaterThanOrEqualTo(rows.lost);
        if (source.losses().isEmpty()) {
            all.assertThat(events).as("losses that no row tells").isEqualTo(rows.lost);
        }
    }

    private void counts(Rows rows) {
        Map<String, Long> told = new TreeMap<>();
        found.counts()
                .counts()
                .forEach(count ->
                        told.merge(
                                count.type().system() + "." + count.type().name(),
                                count.rows(),
                                Long::sum));
        all.assertThat(told).as("events").isEqualTo(rows.counts);
        all.assertThat(found.extent().events()).as("number of events").isEqualTo(rows.all);
    }

    private void sql(QueryRecipe query) throws IOException {
        all.assertThat(sql(query, "SELECT coalesce(sum(events), 0) FROM loss"))
                .as("SQL: losses")
                .isEqualTo(sum(found.losses().rows()));
        String[] names = {"Running", "R", "R+", "S", "D", "T", "unknown"};
        ThreadState[] states = {
            ThreadState.RUNNING,
            ThreadState.WAITING,
            ThreadState.PREEMPTED,
            ThreadState.SLEEPING,
            ThreadState.BLOCKED,
            ThreadState.STOPPED,
            ThreadState.UNKNOWN
        };
        for (int i = 0; i < names.length; i++) {
            String of = "SELECT coalesce(sum(dur), 0) FROM thread_state WHERE state = ";
            all.assertThat(sql(query, of + "'" + names[i] + "'"))
                    .as("SQL: " + names[i])
                    .isEqualTo(found.total(states[i]));
        }
        String cpu =
                found.counts().counts().stream()
                        .map(TypeCount::type)
                        .filter(SampleTypes::isCpu)
                        .map(type -> "'" + type.name().replace("'", "''") + "'")
                        .collect(Collectors.joining(", ", "(''", ")"))
                        .replace("(''", "('', ")
                        .replace(", )", ")");
        all.assertThat(
                        sql(
                                query,
                                "SELECT coalesce(sum(weight), 0) FROM sample LEFT JOIN thread"
                                        + " USING (utid) WHERE coalesce(tid, -1) <> 0 AND event IN"
                                        + " "
                                        + cpu))
                .as("SQL: samples")
                .isEqualTo(found.samples().total());
        all.assertThat(sql(query, "SELECT count(*) FROM events"))
                .as("SQL: events")
                .isEqualTo(found.extent().events());
        String calls = " FROM slice WHERE category = 'syscall' AND dur >= 0";
        all.assertThat(sql(query, "SELECT count(*)" + calls))
                .as("SQL: system calls")
                .isEqualTo(sumOf("system calls", "count"));
        all.assertThat(sql(query, "SELECT coalesce(sum(dur), 0)" + calls))
                .as("SQL: time in system calls")
                .isEqualTo(sumOf("system calls", "total"));
    }

    private long sumOf(String title, String column) {
        Table table = (Table) titled(title);
        List<String> names = table.columns().stream().map(Column::name).toList();
        return rows(table).stream().mapToLong(row -> (long) row.get(names.indexOf(column))).sum();
    }

    private static long sql(QueryRecipe query, String statement) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        query.run(statement, OutputFormat.CSV, out);
        String text = out.toString(StandardCharsets.US_ASCII);
        return Long.parseLong(text.substring(text.indexOf('\n') + 1).strip());
    }
}
