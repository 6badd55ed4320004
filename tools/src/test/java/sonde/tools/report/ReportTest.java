package sonde.tools.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.analysis.sched.ThreadState;
import sonde.event.result.Listing;
import sonde.event.result.Result;
import sonde.event.result.Timeline;
import sonde.event.result.Timeline.TimelineRow;
import sonde.event.result.TimelineLanes;
import sonde.event.result.TimelineLanes.CpuLane;
import sonde.event.result.TimelineLanes.MarkLane;
import sonde.event.result.TimelineSamples;
import sonde.open.ReportSource;
import sonde.recording.bundle.RecordingMeta;
import sonde.recording.bundle.RecordingMeta.RecordedTarget;
import sonde.recording.bundle.RecordingMeta.TargetMode;
import sonde.symbol.files.GivenPlaces;
import sonde.testkit.Golden;
import sonde.testkit.SchedTrace;
import sonde.tools.convert.ConvertRecipe;
import sonde.tools.convert.ConvertRecipe.ConvertOutcome;
import sonde.tools.convert.ConvertRecipe.EventChoice;
import sonde.tools.convert.ConvertTarget;
import sonde.tools.report.StackOptions.StackOrder;
import sonde.tools.report.section.ReportSections;
import sonde.view.TerminalStyle;
import sonde.view.TextRenderer;

/** Whole reports of {@link Scripted}, whose every number is known. */
final class ReportTest {
    private static final Golden GOLDEN = Golden.of("tools", ReportTest.class);
    private static final List<ReportSection> ALL = ReportSections.ALL;

    @TempDir Path folder;
    private Path bundle = Path.of("");

    @BeforeEach
    void write() throws IOException {
        bundle = Scripted.write(folder);
    }

    private static String text(Result result) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        new TextRenderer().render(result, out, TerminalStyle.PLAIN);
        return out.toString(StandardCharsets.UTF_8);
    }

    private static ReportOptions options(
            Set<Integer> tids, List<String> comms, List<String> types) {
        return new ReportOptions(ALL, null, null, tids, comms, types, 40);
    }

    private String report(ReportOptions options) throws IOException {
        try (ReportSource source = ReportSource.open(bundle)) {
            return text(new ReportRecipe(options).run(source));
        }
    }

    @Test
    void everySectionOfAWholeRecording() throws IOException {
        String report = report(ReportOptions.of(ALL));
        GOLDEN.check("scripted.txt", report);
    }

    @Test
    void samplesAreAddedUpAsAsked() throws IOException {
        StackOptions stacks =
                new StackOptions(
                        StackOrder.CALLEE,
                        List.of(
                                StackOptions.SortKey.COMM,
                                StackOptions.SortKey.TID,
                                StackOptions.SortKey.MODULE),
                        true,
                        true,
                        false);
        List<ReportSection> onCpu = ReportSections.named("oncpu");
        ReportOptions options =
                new ReportOptions(
                        onCpu,
                        null,
                        null,
                        Set.of(),
                        List.of(),
                        List.of(),
                        40,
                        ListingOptions.ALL,
                        stacks);
        GOLDEN.check("callee.txt", report(options));
    }

    @Test
    void summaryIsAScreenful() throws IOException {
        String summary = text(ReportSections.summary(bundle));
        assertThat(summary)
                .startsWith(
                        "scripted.sonde\n"
                                + "0.081 s wall, 0.092 s on CPU (1.13 CPUs busy),"
                                + " 2 threads of 2 processes, ");
        assertThat(summary.lines().count()).isLessThan(50);
    }

    @Test
    void namesOfCompiledCodeHaveAnAge() throws IOException {
        List<RecordingMeta.JvmMap> maps =
                List.of(
                        new RecordingMeta.JvmMap(100, "jvm-100.map", Scripted.at(81 - 1500)),
                        new RecordingMeta.JvmMap(101, "jvm-101.map", Scripted.at(70)));
        RecordingMeta meta = Scripted.meta().withProcesses(List.of(), maps);
        bundle = Scripted.write(folder.resolve("jvm"), meta);
        for (RecordingMeta.JvmMap map : maps) {
            Files.writeString(bundle.resolve(map.file()), "0 1 x\n");
        }
        assertThat(
                        report(ReportOptions.of(ReportSections.named("threads")))
                                .replaceAll("\\s+", " "))
                .contains("of JVM 100 are 1.5 s older than")
                .contains("of JVM 101 are 0.0 s older than");
    }

    @Test
    void kernelTimeOfSingleCallsIsALowerBound() throws IOException {
        SchedTrace trace =
                new SchedTrace()
                        .switched(10, 0, "b", 101, 1, "app", 100)
                        .read(1_000_010, 3_000_010, 0, 100)
                        .switched(8_000_010, 0, "app", 100, 1, "b", 101);
        Path file = Files.write(folder.resolve("single.dat"), trace.toBytes());
        assertThat(text(ReportSections.summary(file)).replaceAll("\\s+", " "))
                .contains("Kernel time is that of 1 recorded system call (read): a lower bound");
    }

    /** trace_clock counter: one more for each event. */
    @Test
    void aCounterIsNoTime() throws IOException {
        SchedTrace trace =
                new SchedTrace()
                        .switched(10, 0, "app", 100, 1, "b", 101)
                        .switched(2_000_000_010, 0, "b", 101, 1, "app", 100);
        Path file = Files.write(folder.resolve("counter.dat"), trace.toBytes("counter"));
        String summary = text(ReportSections.summary(file));
        assertThat(summary)
                .contains("in 2,000,000,000 units of its own clock", "no nanoseconds")
                .doesNotContain("wall", "where the time went", " s ");
    }

    /** A trace.dat of switches alone: no word of processes, nor of a kernel time of 0. */
    @Test
    void whatIsNotRecordedIsNotCalledZero() throws IOException {
        SchedTrace trace = new SchedTrace();
        for (int second = 0; second < 3; second++) {
            long at = second * 1_000_000_000L;
            trace.switched(at + 10, 0, "kworker/0:1", 100, 1, "app", 101);
            trace.switched(at + 900_000_000, 0, "app", 101, 1, "kworker/0:1", 100);
        }
        Path file = Files.write(folder.resolve("switches.dat"), trace.toBytes());
        assertThat(text(ReportSections.summary(file)))
                .contains("app 101 ran 2.70 s in 2.90 s", "no samples that tell")
                .contains(" busy), 2 threads, 6 events.")
                .contains("on CPU ")
                .doesNotContain("on CPU, kernel", "kworker/0:1 100  sleeping");
        trace = new SchedTrace().switched(10, 0, "a", 100, 1, "app", 101);
        trace.switched(40_010, 0, "app", 101, 1, "a", 100);
        Files.write(file, trace.toBytes());
        assertThat(text(ReportSections.summary(file))).contains("40.0 µs wall, 40.0 µs on CPU");
    }

    @Test
    void cutStacksAreSaidToATenthOfAPercent() throws IOException {
        assertThat(report(ReportOptions.of(ReportSections.named("oncpu"))))
                .containsPattern("\\d\\.\\d % of user stacks are cut");
    }

    @Test
    void timesOutsideTheRecordingReachNoSum() throws IOException {
        ReportOptions whole = ReportOptions.of(ALL);
        ReportOperators expected;
        try (ReportSource source = ReportSource.open(Scripted.asleep(folder.resolve("asleep")))) {
            expected = new ReportOperators(source, whole, List.of(), false);
        }
        Path strayed = Scripted.strayed(folder.resolve("strayed"));
        try (ReportSource source = ReportSource.open(strayed)) {
            ReportOperators found = new ReportOperators(source, whole, List.of(), false);
            for (ThreadState state : ThreadState.values()) {
                assertThat(found.total(state)).as("%s", state).isEqualTo(expected.total(state));
            }
            assertThat(found.samples().total()).isEqualTo(expected.samples().total());
        }
        SoftAssertions all = new SoftAssertions();
        NumberChecks.check(all, strayed, true);
        all.assertAll();
    }

    /** What losses do to the names of descriptors concerns those who see names. */
    @Test
    void lossesAreExplainedWhereThereIsSomethingToExplain() throws IOException {
        SchedTrace trace = new SchedTrace().switched(10, 0, "b", 101, 1, "app", 100).lost(0, 5);
        trace.switched(8_000_010, 0, "app", 100, 1, "b", 101);
        Path file = Files.write(folder.resolve("lost.dat"), trace.toBytes());
        assertThat(text(ReportSections.summary(file)))
                .contains("losses")
                .doesNotContain("descriptors");
        trace = new SchedTrace().switched(10, 0, "b", 101, 1, "app", 100).lost(0, 5);
        trace.read(1_000_010, 3_000_010, 0, 100);
        trace.switched(8_000_010, 0, "app", 100, 1, "b", 101);
        Files.write(file, trace.toBytes());
        assertThat(text(ReportSections.summary(file))).contains("losses", "descriptors");
    }

    @Test
    void oneThreadHasOneTableOfCalls() throws IOException {
        assertThat(report(options(Set.of(100), List.of(), List.of())))
                .contains("1 thread of 1 process")
                .contains("system calls\n")
                .doesNotContain("system calls by thread");
    }

    @Test
    void whatFitsNothingIsSaid() {
        assertThatThrownBy(() -> report(options(Set.of(), List.of("ap"), List.of())))
                .isInstanceOf(NothingMatchesException.class)
                .hasMessage("no recorded thread is called 'ap'; the nearest are app");
        assertThatThrownBy(() -> report(options(Set.of(999), List.of(), List.of())))
                .hasMessage("no recorded thread has the number 999; there are 100, 101");
        assertThatThrownBy(() -> report(options(Set.of(), List.of(), List.of("sched:swich"))))
                .hasMessage(
                        "no event of this recording matches 'sched:swich'; the nearest are"
                                + " sched:sched_switch");
        assertThatThrownBy(() -> report(options(Set.of(), List.of(), List.of("zzz"))))
                .hasMessageStartingWith("no event of this recording matches 'zzz'; there are ");
        ReportOptions late = new ReportOptions(ALL, 5.0, 6.0, Set.of(), List.of(), List.of(), 40);
        assertThatThrownBy(() -> report(late)).hasMessage("nothing in this recording fits --time");
    }

    @Test
    void aPartOfARecordingIsCalledOne() throws IOException {
        try (ReportSource source = ReportSource.open(bundle.resolve("trace.dat"))) {
            assertThat(source.notes())
                    .contains("This is one part of a recording; scripted.sonde has all of it.");
        }
        try (ReportSource source = ReportSource.open(bundle)) {
            assertThat(source.notes()).noneMatch(note -> note.contains("one part"));
        }
    }

    private ConvertOutcome convert(ReportOptions options, boolean everybody, String to)
            throws IOException {
        EventChoice choice = new EventChoice(options, everybody);
        Path out = folder.resolve("converted");
        Files.deleteIfExists(out);
        return new ConvertRecipe(GivenPlaces.NONE, choice)
                .convert(bundle, out, ConvertTarget.named(to).orElseThrow());
    }

    private String folded(ReportOptions options, boolean everybody) throws IOException {
        convert(options, everybody, "folded");
        return Files.readString(folder.resolve("converted"));
    }

    /** As in reports: the processes that were to be recorded, and of these what was asked for. */
    @Test
    void conversionsHaveTheEventsOfReports() throws IOException {
        RecordedTarget child = new RecordedTarget(TargetMode.PID, List.of(), List.of(101), null);
        bundle = Scripted.write(folder.resolve("child"), Scripted.meta().withTarget(child));
        ReportOptions all = ReportOptions.of(List.of());
        assertThat(folded(all, false)).isEqualTo("[app+0x4000] 20000000\n");
        assertThat(folded(all, true)).contains("[app+0x1000] 20000000", "[app+0x3000] 10000000");
        ReportOptions late =
                new ReportOptions(List.of(), 0.045, null, Set.of(), List.of(), List.of(), 1);
        assertThat(folded(late, false)).isEqualTo("[app+0x4000] 10000000\n");
        assertThat(folded(late, true)).contains("[app+0x3000] 1").doesNotContain("[app+0x1000]");
        assertThat(folded(options(Set.of(100), List.of(), List.of()), true))
                .doesNotContain("[app+0x4000]");
        for (String to : List.of("folded", "perfdata", "tracedat", "parquet", "jsonl")) {
            assertThat(convert(late, false, to).notes().getFirst())
                    .endsWith("left out (by --time, not of the recorded processes: --all has them)")
                    .startsWith(convert(late, false, "csv").notes().getFirst().split(" ")[0]);
        }
        assertThat(convert(all, true, "perfetto").notes()).noneMatch(note -> note.contains("left"));
        assertThatThrownBy(() -> convert(options(Set.of(), List.of("b*"), List.of()), true, "csv"))
                .hasMessage("nothing in this recording fits --comm");
        assertThatThrownBy(() -> convert(options(Set.of(), List.of(), List.of("no")), true, "csv"))
                .hasMessageStartingWith("no event of this recording matches 'no'");
    }

    @Test
    void pprofSaysWhereCodeLies() throws IOException, InterruptedException {
        Path go = Path.of("/usr/bin/go");
        Assumptions.assumeTrue(Files.isExecutable(go), "no go tool pprof");
        ReportOptions all = ReportOptions.of(List.of());
        convert(all, false, "pprof");
        String file = folder.resolve("converted").toString();
        Process pprof =
                new ProcessBuilder(go.toString(), "tool", "pprof", "-raw", file)
                        .redirectErrorStream(true)
                        .start();
        assertThat(new String(pprof.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .contains("PeriodType: cpu-clock:HG nanoseconds\nPeriod: 1\n")
                .contains(": 0x401000 M=1 [app+0x1000]", ": 0x402000 M=1 [app+0x2000]")
                .contains("1: 0x400000/0x410000/0x0 /sonde-test/app  [FN]");
        assertThat(pprof.waitFor()).isZero();
    }

    @Test
    void aListingWithoutARowSaysSo() throws IOException {
        try (ReportSource source = ReportSource.open(bundle)) {
            ReportOptions none = options(Set.of(), List.of("nosuch"), List.of());
            Listing listing = new ReportRecipe(none).events(source);
            assertThatThrownBy(() -> text(listing))
                    .isInstanceOf(NothingMatchesException.class)
                    .hasMessage("nothing in this recording fits --comm");
        }
    }

    private static String name(Timeline page, int node) {
        String name = page.stacks().frames().get(page.stacks().frame()[node]).name();
        int caller = page.stacks().parent()[node];
        return name.startsWith("[woken by") ? name(page, caller) : name;
    }

    @Test
    void thePageHasTheTimesOfTheHeadline() throws IOException {
        try (ReportSource source = ReportSource.open(bundle)) {
            Timeline page = new ReportRecipe(ReportOptions.of(ALL)).page(source).timeline();
            assertThat(page.start()).isEqualTo(1_000_000_000);
            assertThat(page.end()).isEqualTo(1_081_000_000);
            assertThat(page.tracks())
                    .extracting(TimelineRow::name)
                    .containsExactly("app 100", "app 101");
            assertThat(page.stateNanos()[ThreadState.RUNNING.ordinal()]).isEqualTo(91_500_000);
            assertThat(page.stateNanos()[ThreadState.WAITING.ordinal()]).isEqualTo(2_500_000);
            assertThat(page.stateNanos()[ThreadState.BLOCKED.ordinal()]).isEqualTo(8_000_000);
            assertThat(page.stateNanos()[ThreadState.SLEEPING.ordinal()]).isEqualTo(19_000_000);
            long[] states = page.tracks().getFirst().stateNanos();
            assertThat(states[ThreadState.RUNNING.ordinal()]).isEqualTo(52_500_000);
            assertThat(page.samples())
                    .extracting(TimelineSamples::name)
                    .containsExactly("on-cpu", "off-cpu", "page-faults");
            TimelineSamples onCpu = page.samples().getFirst();
            assertThat(onCpu.weight()).containsOnly(10_000_000L).hasSize(6);
            assertThat(Arrays.stream(onCpu.track()).sum()).isEqualTo(2);
            // Waiting, blocked and sleeping, without a chain too.
            TimelineSamples offCpu = page.samples().get(1);
            assertThat(Arrays.stream(offCpu.weight()).sum()).isEqualTo(29_500_000);
            assertThat(Arrays.stream(offCpu.node()).mapToObj(node -> name(page, node)))
                    .contains("[blocked in read]", "[sleeping in futex]");
        }
    }

    @Test
    void thePageHasWhatRanOnEachCpuSingleEventsAndLosses() throws IOException {
        try (ReportSource source = ReportSource.open(bundle)) {
            ReportRecipe.ReportPage page = new ReportRecipe(ReportOptions.of(ALL)).page(source);
            TimelineLanes lanes = page.timeline().lanes();
            assertThat(lanes.cpus()).extracting(CpuLane::cpu).containsExactly(0, 1);
            CpuLane first = lanes.cpus().getFirst();
            assertThat(Arrays.stream(first.busy()).sum()).isEqualTo(52_500_000);
            assertThat(first.starts())
                    .containsExactly(1_000_000_000L, 1_021_000_000L, 1_060_500_000L);
            assertThat(first.ends()).containsExactly(1_012_000_000L, 1_041_000_000L, 1_081_000_000);
            assertThat(first.track()).containsOnly(0);
            CpuLane second = lanes.cpus().get(1);
            assertThat(Arrays.stream(second.busy()).sum()).isEqualTo(39_000_000);
            assertThat(second.track()).containsOnly(1);
            MarkLane forks = lanes.marks().getFirst();
            assertThat(forks.event()).isEqualTo("sched:sched_process_fork");
            assertThat(forks.count()).isEqualTo(1);
            assertThat(forks.time()).containsExactly(1_030_000_000L);
            assertThat(forks.track()).containsExactly(0);
            assertThat(forks.texts().getFirst()).contains("child_pid=101");
            assertThat(lanes.lost()).startsWith("3 events were lost");
            assertThat(page.timeline().tracks())
                    .extracting(TimelineRow::command)
                    .containsExactly("app", "app");
            assertThat(page.report().sections().getFirst().title()).isEqualTo("losses");
            assertThat(page.report().sections())
                    .extracting(Result::title)
                    .doesNotHaveDuplicates()
                    .contains("off CPU", "on-CPU stacks", "events");
        }
    }
}
