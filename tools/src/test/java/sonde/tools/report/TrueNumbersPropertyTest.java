package sonde.tools.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.analysis.LossAccount.LossRow;
import sonde.analysis.sched.StateTotals;
import sonde.analysis.sched.ThreadState;
import sonde.event.result.CallTree;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.Timeline;
import sonde.event.result.TimelineSamples;
import sonde.open.ReportSource;
import sonde.recording.bundle.MetaWriter;
import sonde.recording.bundle.RecordingMeta;
import sonde.recording.bundle.RecordingMeta.RecordedLoss;
import sonde.recording.bundle.RecordingMeta.RecordedTarget;
import sonde.recording.bundle.RecordingMeta.RecordingTimes;
import sonde.recording.bundle.RecordingMeta.TargetMode;
import sonde.testkit.PerfDataBytes;
import sonde.testkit.Property;
import sonde.testkit.SchedTrace;
import sonde.tools.convert.ConvertRecipe;
import sonde.tools.convert.ConvertRecipe.ConvertOutcome;
import sonde.tools.convert.ConvertTarget;
import sonde.tools.query.OutputFormat;
import sonde.tools.query.QueryRecipe;
import sonde.tools.report.section.ReportSections;

/** Numbers of generated recordings, most of them with losses, against each other. */
final class TrueNumbersPropertyTest {
    private static final int RUNS = 40;
    private static final int SQL_EVERY = 20;
    private static final int FIRST_TID = 100;
    private static final long START = 1_000_000_000L;
    private static final int ID = 11;

    @TempDir Path folder;

    private long end;
    private long lost;

    /** Fewer than a page has. */
    private static final int MAX_TRACKS = 200;

    @Test
    void everyViewHasTheSameNumbers() {
        int[] run = {0};
        Property.forAll(
                1,
                RUNS,
                random -> {
                    boolean asks = run[0]++ % SQL_EVERY == 0;
                    // Some have more threads than a page has tracks.
                    int threads = run[0] % 20 == 7 ? 230 : 1 + random.nextInt(6);
                    Path bundle = bundle(random, 1 + random.nextInt(3), threads);
                    try (ReportSource source = ReportSource.open(bundle)) {
                        check(source);
                    }
                    if (asks) {
                        sqlHasTheSame(bundle);
                    }
                });
    }

    private Path bundle(RandomGenerator random, int cpus, int threads) throws IOException {
        Path bundle = Files.createDirectories(folder.resolve("x.sonde"));
        lost = 0;
        Files.write(bundle.resolve("trace.dat"), trace(random, cpus, threads));
        Files.write(bundle.resolve("perf.data"), perf(random, cpus, threads));
        RecordingMeta scripted = Scripted.meta();
        RecordingMeta meta =
                scripted.withTarget(new RecordedTarget(TargetMode.ALL, List.of(), List.of(), null))
                        .withTimes(new RecordingTimes(START - 1000, 0, -1, end + 1000))
                        .withAccount(told(random), List.of());
        Files.write(bundle.resolve(RecordingMeta.FILE), MetaWriter.write(meta));
        return bundle;
    }

    private static List<RecordedLoss> told(RandomGenerator random) {
        List<RecordedLoss> told = new ArrayList<>();
        for (int cpu = 0; cpu < random.nextInt(3); cpu++) {
            long count = random.nextInt(40);
            told.add(
                    new RecordedLoss(
                            "trace.dat", "", cpu, RecordingMeta.LossKind.RING_FULL, count));
        }
        return told;
    }

    /** Threads take turns, make calls, fork and end; a fifth of the rows is missing. */
    private byte[] trace(RandomGenerator random, int cpus, int threads) {
        SchedTrace trace = new SchedTrace();
        int[] current = new int[cpus];
        int[] on = new int[threads + 1];
        Arrays.fill(on, -1);
        boolean[] dead = new boolean[threads + 1];
        long time = START;
        int rows = threads > 50 ? 3 * threads : 60;
        for (int i = 0; i < rows; i++) {
            time += 1 + random.nextInt(1_000_000);
            int cpu = random.nextInt(cpus);
            int other = 1 + random.nextInt(threads);
            int now = current[cpu];
            boolean kept = random.nextInt(5) > 0;
            switch (random.nextInt(8)) {
                case 0 -> {
                    if (now > 0 && kept) {
                        trace.enter(time, cpu, tid(now), random.nextInt(3));
                    }
                }
                case 1 -> {
                    if (now > 0 && kept) {
                        trace.exit(time, cpu, tid(now), 0, 0);
                    }
                }
                case 2 -> {
                    if (on[other] < 0 && kept && !dead[other]) {
                        trace.wake(time, cpu, tid(now), name(other), tid(other));
                    }
                }
                case 3 -> {
                    if (!kept) {
                        long count = 1 + random.nextInt(20);
                        trace.lost(cpu, count);
                        lost += count;
                    }
                }
                case 4 -> {
                    if (now > 0 && kept && random.nextInt(4) == 0) {
                        trace.forked(time, cpu, name(now), tid(now), tid(other) + 1000);
                    }
                }
                default -> {
                    boolean idle = random.nextInt(4) == 0 || on[other] >= 0 || dead[other];
                    int next = idle ? 0 : other;
                    if (next != now) {
                        long[] states = {0, 1, 2, 4, 0x20};
                        long state = states[random.nextInt(now == 0 ? 1 : states.length)];
                        dead[now] |= state == 0x20;
                        if (kept) {
                            trace.switched(
                                    time, cpu, name(now), tid(now), state, name(next), tid(next));
                        }
                        on[now] = -1;
                        on[next] = next == 0 ? -1 : cpu;
                        current[cpu] = next;
                    }
                }
            }
        }
        end = time + 1;
        // The last row of each CPU: what was lost before it has a place.
        for (int cpu = 0; cpu < cpus; cpu++) {
            trace.wake(time + 1, cpu, 0, "last", 99);
        }
        return trace.toBytes();
    }

    private static int tid(int thread) {
        return thread == 0 ? 0 : FIRST_TID + thread;
    }

    private static String name(int thread) {
        return thread == 0 ? "swapper" : "app" + thread % 3;
    }

    /** Samples of different weights, with and without chains; one record has any time. */
    private byte[] perf(RandomGenerator random, int cpus, int threads) {
        PerfDataBytes file = new PerfDataBytes(ByteOrder.LITTLE_ENDIAN);
        long sampleType = 1 | 2 | 4 | 32 | 128 | 256 | 1L << 16;
        file.event(file.attr(0, 0, sampleType, 0, 1L << 18 | 1L << 25), ID);
        for (int i = 0; i < 12; i++) {
            int tid = tid(1 + random.nextInt(threads));
            long ip = 0x401000 + random.nextInt(4);
            PerfDataBytes.Fields body = file.fields().u64(ID).u64(ip).u32(tid).u32(tid);
            body.u64(START + random.nextLong(end - START)).u32(random.nextInt(cpus)).u32(0);
            body.u64(1 + random.nextInt(1_000_000));
            file.record(9, 2, random.nextInt(4) == 0 ? body.u64(0) : body.u64(2).u64(-512, ip));
        }
        PerfDataBytes.Fields lostRecord = file.fields().u64(ID, random.nextInt(9));
        lostRecord.u32(0).u32(0).u64(end - 1).u32(0).u32(0).u64(ID);
        file.record(2, 0, lostRecord);
        PerfDataBytes.Fields program = file.fields().u16(1).u16(0).u32(77).u64(5);
        program.u32(0).u32(0).u64(random.nextLong()).u32(0).u32(0).u64(ID);
        file.record(18, 0, program);
        return file.file();
    }

    private static void check(ReportSource source) throws IOException {
        ReportOptions options = ReportOptions.of(ReportSections.ALL);
        List<AnalysisKey<?>> needed = new ArrayList<>(TimelineMaker.NEEDS);
        options.sections().forEach(section -> needed.addAll(section.needs()));
        ReportOperators found = new ReportOperators(source, options, needed, true);
        statesAddUp(found);
        Timeline page = new TimelineMaker(found, MAX_TRACKS).timeline();
        List<Result> text = new ReportRecipe(options).report(source, found).sections();
        pageHasTheTimes(found, page, text);
        long sampled = tree(text, "on-CPU stacks").root().total();
        assertThat(weight(page, "on-cpu")).isEqualTo(sampled);
        Table functions = table(text, "on CPU");
        double shares = functions.rows().stream().mapToDouble(row -> (double) row.get(2)).sum();
        long chainless = chainless(found);
        if (sampled > 0) {
            assertThat(shares).isCloseTo(1 - (double) chainless / sampled, within(1e-6));
        }
        long events = 0;
        for (List<Object> row : rows(table(text, "losses"))) {
            events += row.get(3) == null ? 0 : (long) row.get(3);
        }
        assertThat(events).isEqualTo(sum(found.losses().rows()));
    }

    @SuppressWarnings({"unchecked", "NullAway"}) // cells may be null
    private static List<List<Object>> rows(Table table) {
        return (List<List<Object>>) (List<?>) table.rows();
    }

    private static long sum(List<LossRow> rows) {
        return rows.stream()
                .map(LossRow::events)
                .mapToLong(events -> events == null ? 0 : events)
                .sum();
    }

    private static long chainless(ReportOperators found) {
        long[] sum = {0};
        found.samples()
                .forEach((thread, node, weight, count) ->
                        sum[0] += node < 0 && found.shown(thread) ? weight : 0);
        return sum[0];
    }

    private static void statesAddUp(ReportOperators found) {
        StateTotals totals = found.totals();
        long first = Long.MAX_VALUE;
        long last = Long.MIN_VALUE;
        for (int thread : found.shownThreads()) {
            long life = totals.wallNanos(thread);
            long sum = 0;
            for (ThreadState state : ThreadState.values()) {
                sum += totals.nanos(thread, state);
            }
            assertThat(sum).as(found.threadName(thread)).isEqualTo(life);
            assertThat(totals.kernelNanos(thread))
                    .isBetween(0L, totals.nanos(thread, ThreadState.RUNNING));
            assertThat(totals.last(thread)).isLessThanOrEqualTo(found.threads().died(thread));
            first = Math.min(first, totals.first(thread));
            last = Math.max(last, totals.last(thread));
        }
        if (first < last) {
            assertThat(found.total(ThreadState.RUNNING)).isLessThanOrEqualTo(3 * (last - first));
            assertThat(last - first).isLessThan(60_000_000_000L * 3);
        }
    }

    private static void pageHasTheTimes(ReportOperators found, Timeline page, List<Result> text) {
        long off = 0;
        for (ThreadState state : ThreadState.values()) {
            long nanos = found.total(state);
            boolean running = state == ThreadState.RUNNING || state == ThreadState.UNKNOWN;
            off += running ? 0 : nanos;
            assertThat(page.stateNanos()[state.ordinal()]).isEqualTo(nanos);
            long tracks =
                    page.tracks().stream()
                            .filter(track -> track.stateNanos().length > 0)
                            .mapToLong(track -> track.stateNanos()[state.ordinal()])
                            .sum();
            assertThat(tracks).isEqualTo(nanos);
        }
        assertThat(weight(page, "off-cpu")).isEqualTo(off);
        assertThat(tree(text, "off-CPU stacks").root().total()).isEqualTo(off);
    }

    private static long weight(Timeline page, String name) {
        TimelineSamples samples =
                page.samples().stream().filter(one -> one.name().equals(name)).findFirst().get();
        return Arrays.stream(samples.weight()).sum();
    }

    private static CallTree tree(List<Result> results, String title) {
        return (CallTree) titled(results, title);
    }

    private static Table table(List<Result> results, String title) {
        return (Table) titled(results, title);
    }

    private static Result titled(List<Result> results, String title) {
        return results.stream().filter(one -> one.title().equals(title)).findFirst().get();
    }

    private void sqlHasTheSame(Path bundle) throws IOException {
        long[] states = new long[ThreadState.values().length];
        long missing;
        try (ReportSource source = ReportSource.open(bundle)) {
            ReportOperators found =
                    new ReportOperators(source, ReportOptions.of(List.of()), List.of(), false);
            for (ThreadState state : ThreadState.values()) {
                states[state.ordinal()] = found.total(state);
            }
            missing = sum(found.losses().rows());
            try (QueryRecipe query = QueryRecipe.open(List.of(bundle), null, false)) {
                boolean told = source.losses().stream().anyMatch(loss -> loss.count() > 0);
                assertThat(query.notes().stream().anyMatch(note -> note.contains("were lost")))
                        .isEqualTo(told);
            }
            assertThat(missing).isGreaterThanOrEqualTo(lost);
        }
        assertThat(sql(bundle, "SELECT coalesce(sum(events), 0) FROM loss")).isEqualTo(missing);
        String of = "SELECT coalesce(sum(dur), 0) FROM thread_state WHERE state = ";
        assertThat(sql(bundle, of + "'Running'")).isEqualTo(states[ThreadState.RUNNING.ordinal()]);
        assertThat(sql(bundle, of + "'S'")).isEqualTo(states[ThreadState.SLEEPING.ordinal()]);
        assertThat(sql(bundle, of + "'D'")).isEqualTo(states[ThreadState.BLOCKED.ordinal()]);
        assertThat(sql(bundle, of + "'R'")).isEqualTo(states[ThreadState.WAITING.ordinal()]);
        Path converted = folder.resolve("converted");
        Files.deleteIfExists(converted);
        ConvertOutcome outcome =
                new ConvertRecipe()
                        .convert(bundle, converted, ConvertTarget.named("jsonl").orElseThrow());
        if (missing > 0) {
            assertThat(outcome.notes()).anyMatch(note -> note.contains(missing + " events were"));
        }
    }

    private static long sql(Path bundle, String statement) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (QueryRecipe query = QueryRecipe.open(List.of(bundle), null, false)) {
            query.run(statement, OutputFormat.CSV, out);
        }
        String text = out.toString(StandardCharsets.US_ASCII);
        return Long.parseLong(text.substring(text.indexOf('\n') + 1).strip());
    }
}
