package sonde.tools.report;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import sonde.analysis.sched.CpuTracks;
import sonde.analysis.sched.EventMarks;
import sonde.analysis.sched.OffCpu.OffCpuCause;
import sonde.analysis.sched.OffSpans;
import sonde.analysis.sched.ThreadState;
import sonde.analysis.sched.TimelineTracks;
import sonde.analysis.stack.CallTreeBuilder.ChainColumns;
import sonde.analysis.stack.StackAggregate;
import sonde.event.Batch;
import sonde.event.result.Timeline;
import sonde.event.result.Timeline.TimelineRow;
import sonde.event.result.TimelineLanes;
import sonde.event.result.TimelineSamples;
import sonde.event.result.Unit;
import sonde.recording.ftrace.FieldText;
import sonde.recording.ftrace.TextBuffer;

/**
 * What a page shows of a recording, bounded in size however long the recording is. Its sums are
 * those of the report: threads without a track of their own share one, and what is not shown singly
 * is added up by call chain.
 */
final class TimelineMaker {
    private static final AnalysisKey<TimelineTracks> TRACKS =
            new AnalysisKey<>(found -> found.addStates(new TimelineTracks()));
    private static final AnalysisKey<OffSpans> OFF_SPANS =
            new AnalysisKey<>(found -> found.addStates(new OffSpans()));

    private static final AnalysisKey<CpuTracks> CPUS =
            new AnalysisKey<>(found -> found.addStates(new CpuTracks()));
    private static final AnalysisKey<EventMarks> MARKS =
            new AnalysisKey<>(found ->
                    found.add(
                            new EventMarks(
                                    found.threads(), found.window(), TimelineMaker::fields)));

    /** The analyses it takes. */
    static final List<AnalysisKey<?>> NEEDS =
            List.of(
                    TRACKS,
                    OFF_SPANS,
                    CPUS,
                    MARKS,
                    ReportOperators.INCIDENTS,
                    ReportOperators.FAULTS,
                    ReportOperators.EVENT_STACKS);

    /** Short-lived threads have few spans; long-lived ones up to 4000 each. */
    private static final int MAX_TRACKS = 4000;

    private static final int MAX_SPANS = 800_000;
    private static final int MAX_TEXT = 300;
    private static final int MANY_OF_A_POOL = 8;
    private static final Pattern DIGITS = Pattern.compile("\\d+");

    private final ReportOperators found;
    private final List<Integer> busiest;
    private final Map<Integer, Integer> trackOf = new HashMap<>();
    private final TreeSet<Integer> others;
    private final ChainColumns columns;
    private final Map<String, Integer> pools = new HashMap<>();
    private final List<String> notes = new ArrayList<>();

    TimelineMaker(ReportOperators found) {
        this(found, MAX_TRACKS);
    }

    /** With fewer tracks. */
    TimelineMaker(ReportOperators found, int maxTracks) {
        this.found = found;
        columns = found.trees().new ChainColumns();
        busiest = found.of(TRACKS).busiest(found::shown, maxTracks, MAX_SPANS);
        others = new TreeSet<>(found.shownThreads());
        found.samples().forEach((thread, node, weight, count) -> others.add(thread));
        found.of(ReportOperators.FAULTS)
                .forEach((thread, node, weight, count) -> others.add(thread));
        found.of(ReportOperators.EVENT_STACKS)
                .values()
                .forEach(sums -> sums.forEach((thread, node, weight, count) -> others.add(thread)));
        others.removeIf(thread -> !found.shown(thread));
        busiest.forEach(others::remove);
        Stream.concat(busiest.stream(), others.stream())
                .map(found::comm)
                .distinct()
                .forEach(
                        name -> pools.merge(DIGITS.matcher(name).replaceAll("*"), 1, Integer::sum));
        busiest.forEach(thread -> trackOf.put(thread, trackOf.size()));
    }

    /** A thread's name in call chains; threads of a pool share the one without numbers. */
    private String label(int thread) {
        String name = found.comm(thread);
        String pool = DIGITS.matcher(name).replaceAll("*");
        return pools.getOrDefault(pool, 0) > MANY_OF_A_POOL ? pool : name;
    }

    Timeline timeline() {
        List<Integer> threads = found.shownThreads();
        StackAggregate cpu = found.samples();
        boolean hasSamples = cpu.kept() > 0;
        long start =
                threads.stream()
                        .mapToLong(found.totals()::first)
                        .min()
                        .orElse(hasSamples ? cpu.time(0) : 0);
        long end =
                threads.stream()
                        .mapToLong(found.totals()::last)
                        .max()
                        .orElse(hasSamples ? cpu.time(cpu.kept() - 1) : 0);
        List<TimelineRow> tracks = new ArrayList<>();
        Map<Integer, String> commands = commands(threads);
        for (int thread : busiest) {
            String command =
                    found.threads().isKernel(thread)
                            ? "kernel threads"
                            : commands.getOrDefault(
                                    found.threads().pid(thread), found.comm(thread));
            tracks.add(found.of(TRACKS).track(found.threads(), thread, command, end - start));
        }
        shared(tracks);
        List<TimelineSamples> samples = new ArrayList<>();
        samples.add(single("on-cpu", found.weightUnit(), cpu));
        samples.add(offCpu());
        samples.add(single("page-faults", Unit.COUNT, found.of(ReportOperators.FAULTS)));
        found.of(ReportOperators.EVENT_STACKS)
                .forEach((event, sums) -> samples.add(single(event, Unit.COUNT, sums)));
        List<String> states = Arrays.stream(ThreadState.values()).map(ThreadState::label).toList();
        return new Timeline(
                "timeline",
                start,
                end,
                states,
                tracks,
                columns.stacks(),
                samples,
                totals(threads),
                new TimelineLanes(
                        cpus(end - start), marks(), found.losses().sentence().orElse("")));
    }

    /** The names of processes: those of their main threads, else of the busiest. */
    private Map<Integer, String> commands(List<Integer> threads) {
        Map<Integer, String> commands = new HashMap<>();
        for (int thread : threads) {
            int pid = found.threads().pid(thread);
            String told = found.threads().processName(pid);
            if (told != null || found.threads().tid(thread) == pid) {
                commands.put(pid, told != null ? told : found.comm(thread));
            } else {
                commands.putIfAbsent(pid, found.comm(thread));
            }
        }
        return commands;
    }

    private List<TimelineLanes.CpuLane> cpus(long wallNanos) {
        List<TimelineLanes.CpuLane> lanes = new ArrayList<>();
        found.of(CPUS)
                .cpus(wallNanos)
                .forEach((cpu, spans) -> {
                    int[] kept =
                            IntStream.range(0, spans.size())
                                    .filter(i -> trackOf.containsKey(spans.thread(i)))
                                    .toArray();
                    if (kept.length > 0) {
                        lanes.add(
                                new TimelineLanes.CpuLane(
                                        cpu,
                                        IntStream.of(kept).mapToLong(spans::start).toArray(),
                                        IntStream.of(kept).mapToLong(spans::end).toArray(),
                                        IntStream.of(kept).mapToLong(spans::busy).toArray(),
                                        IntStream.of(kept)
                                                .map(i -> trackOf.getOrDefault(spans.thread(i), -1))
                                                .toArray()));
                    }
                });
        return lanes;
    }

    private List<TimelineLanes.MarkLane> marks() {
        List<TimelineLanes.MarkLane> lanes =
                new ArrayList<>(found.of(ReportOperators.INCIDENTS).lanes());
        found.of(MARKS)
                .types()
                .forEach((event, all) -> {
                    List<EventMarks.EventMark> marks =
                            all.marks().stream()
                                    .filter(mark -> found.shown(mark.thread()))
                                    .toList();
                    if (!marks.isEmpty()) {
                        boolean isAll = marks.size() == all.marks().size();
                        lanes.add(
                                new TimelineLanes.MarkLane(
                                        event,
                                        isAll ? all.count() : marks.size(),
                                        marks.stream()
                                                .mapToLong(EventMarks.EventMark::time)
                                                .toArray(),
                                        marks.stream()
                                                .mapToInt(one ->
                                                        trackOf.getOrDefault(one.thread(), -1))
                                                .toArray(),
                                        marks.stream().map(EventMarks.EventMark::text).toList()));
                    }
                });
        return lanes;
    }

    private static String fields(Batch batch, int row) {
        TextBuffer text = new TextBuffer(MAX_TEXT);
        FieldText.Details.FIELDS.append(text, batch, row);
        String fields = new String(text.since(0), StandardCharsets.UTF_8).strip();
        return fields.length() <= MAX_TEXT ? fields : fields.substring(0, MAX_TEXT) + "…";
    }

    /** Adds the tracks of what has none of its own: flame graphs are made of what has a track. */
    private void shared(List<TimelineRow> tracks) {
        if (others.remove(-1)) {
            trackOf.put(-1, tracks.size());
            tracks.add(withoutSpans(found.comm(-1), new long[0]));
        }
        if (others.isEmpty()) {
            return;
        }
        others.forEach(thread -> trackOf.put(thread, tracks.size()));
        tracks.add(withoutSpans(others.size() + " other threads", totals(others)));
        notes.add(
                "The timeline shows the busiest "
                        + busiest.size()
                        + " of "
                        + (busiest.size() + others.size())
                        + " threads; its last row stands for the others.");
    }

    private static TimelineRow withoutSpans(String name, long[] totals) {
        return new TimelineRow(name, "", -1, -1, new long[0], new long[0], new byte[0], totals);
    }

    private long[] totals(Collection<Integer> threads) {
        return Arrays.stream(ThreadState.values())
                .mapToLong(state ->
                        threads.stream()
                                .mapToLong(thread -> found.totals().nanos(thread, state))
                                .sum())
                .toArray();
    }

    List<String> notes() {
        return notes;
    }

    /** One event or span, or several of one chain. */
    private record PageSample(
            long time, int track, int node, long weight, long count, long lasts) {}

    private static TimelineSamples samples(String name, Unit unit, List<PageSample> rows) {
        return new TimelineSamples(
                name,
                unit,
                rows.stream().mapToLong(PageSample::time).toArray(),
                rows.stream().mapToInt(PageSample::track).toArray(),
                rows.stream().mapToInt(PageSample::node).toArray(),
                rows.stream().mapToLong(PageSample::weight).toArray(),
                rows.stream().mapToLong(PageSample::count).toArray(),
                rows.stream().mapToLong(PageSample::lasts).toArray());
    }

    private TimelineSamples single(String name, Unit unit, StackAggregate sums) {
        if (sums.stride() > 1) {
            notes.add(
                    name
                            + ": one sample of "
                            + sums.stride()
                            + " is on the page, with the weight of all; in a selected range its"
                            + " sums are estimates.");
        }
        List<PageSample> rows = new ArrayList<>();
        sums.forEachSample((time, thread, node, weight, count) -> {
            Integer track = trackOf.get(thread);
            if (track != null) {
                int chain = columns.node(label(thread), node);
                rows.add(new PageSample(time, track, chain, weight, count, 0));
            }
        });
        return samples(name, unit, rows);
    }

    private TimelineSamples offCpu() {
        OffSpans spans = found.of(OFF_SPANS);
        if (spans.merged() > 0) {
            notes.add(
                    "off-cpu: "
                            + spans.merged()
                            + " spans shorter than "
                            + spans.threshold()
                            + " ns are added up by call chain; in a selected range their sums are"
                            + " estimates.");
        }
        Map<OffCpuCause, Integer> chains = new HashMap<>();
        List<PageSample> rows = new ArrayList<>();
        for (OffSpans.OffCpuSpan span : spans.rows()) {
            Integer track = trackOf.get(span.cause().thread());
            if (track != null) {
                int chain = chains.computeIfAbsent(span.cause(), this::chain);
                long lasts = span.end() - span.start();
                rows.add(
                        new PageSample(
                                span.start(), track, chain, span.nanos(), span.count(), lasts));
            }
        }
        return samples("off-cpu", Unit.NANOS, rows);
    }

    private int chain(OffCpuCause cause) {
        int node = found.trees().withoutSwitching(cause.stack());
        int chain = columns.node(label(cause.thread()), node);
        for (var frame : OffCpuCauses.frames(found, cause)) {
            chain = columns.child(chain, frame);
        }
        return chain;
    }
}
