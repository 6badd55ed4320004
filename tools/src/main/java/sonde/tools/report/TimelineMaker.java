package sonde.tools.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import sonde.analysis.sched.OffSpans;
import sonde.analysis.sched.ThreadState;
import sonde.analysis.sched.Tracks;
import sonde.analysis.stack.StackSums;
import sonde.analysis.stack.Trees;
import sonde.event.result.Samples;
import sonde.event.result.Timeline;
import sonde.event.result.Unit;

/** What a page shows of a recording, bounded in size however long the recording is. */
final class TimelineMaker {
    private static final AnalysisKey<Tracks> TRACKS =
            new AnalysisKey<>(found -> found.addStates(new Tracks()));
    private static final AnalysisKey<OffSpans> OFF_SPANS =
            new AnalysisKey<>(found -> found.addStates(new OffSpans()));

    /** The analyses it takes. */
    static final List<AnalysisKey<?>> NEEDS = List.of(TRACKS, OFF_SPANS, Findings.FAULTS);

    private static final int MAX_TRACKS = 200;

    private final Findings found;
    private final Unit weightUnit;
    private final Map<Integer, Integer> trackOf = new HashMap<>();
    private final List<String> notes = new ArrayList<>();

    TimelineMaker(Findings found, Unit weightUnit) {
        this.found = found;
        this.weightUnit = weightUnit;
    }

    Timeline timeline() {
        List<Integer> threads = found.of(TRACKS).busiest(found::shown, MAX_TRACKS);
        int all = found.shownThreads().size();
        if (threads.size() < all) {
            notes.add(
                    "The timeline shows the busiest "
                            + threads.size()
                            + " of "
                            + all
                            + " threads.");
        }
        long start = threads.stream().mapToLong(found.totals()::first).min().orElse(0);
        long end = threads.stream().mapToLong(found.totals()::last).max().orElse(0);
        List<Timeline.Track> tracks = new ArrayList<>();
        for (int thread : threads) {
            trackOf.put(thread, tracks.size());
            tracks.add(found.of(TRACKS).track(found.threads(), thread, end - start));
        }
        if (hasNobodys()) {
            // Flame graphs are made of what has a track.
            trackOf.put(-1, tracks.size());
            tracks.add(
                    new Timeline.Track(
                            found.comm(-1), -1, -1, new long[0], new long[0], new byte[0]));
            start = threads.isEmpty() ? found.samples().time(0) : start;
            end = threads.isEmpty() ? found.samples().time(found.samples().kept() - 1) : end;
        }
        Trees.Columns columns = found.trees().new Columns();
        List<Samples> samples =
                List.of(
                        single("on-cpu", weightUnit, found.samples(), columns),
                        offCpu(columns),
                        single("page-faults", Unit.COUNT, found.of(Findings.FAULTS), columns));
        List<String> states = Arrays.stream(ThreadState.values()).map(ThreadState::label).toList();
        long[] totals = Arrays.stream(ThreadState.values()).mapToLong(found::total).toArray();
        return new Timeline(
                "timeline", start, end, states, tracks, columns.stacks(), samples, totals);
    }

    private String name(int thread) {
        return found.comm(thread);
    }

    /** Whether there are samples that name no thread. */
    private boolean hasNobodys() {
        return found.shown(-1)
                && IntStream.range(0, found.samples().kept())
                        .anyMatch(i -> found.samples().thread(i) < 0);
    }

    List<String> notes() {
        return notes;
    }

    private Samples single(String name, Unit unit, StackSums sums, Trees.Columns columns) {
        if (sums.stride() > 1) {
            notes.add(
                    name
                            + ": one sample of "
                            + sums.stride()
                            + " is on the page, with the weight"
                            + " of all.");
        }
        int[] rows =
                IntStream.range(0, sums.kept())
                        .filter(i -> trackOf.containsKey(sums.thread(i)))
                        .toArray();
        return new Samples(
                name,
                unit,
                Arrays.stream(rows).mapToLong(sums::time).toArray(),
                Arrays.stream(rows).map(i -> trackOf.getOrDefault(sums.thread(i), -1)).toArray(),
                Arrays.stream(rows)
                        .map(i -> columns.node(name(sums.thread(i)), sums.node(i)))
                        .toArray(),
                Arrays.stream(rows).mapToLong(i -> sums.weight(i) * sums.stride()).toArray());
    }

    private Samples offCpu(Trees.Columns columns) {
        OffSpans spans = found.of(OFF_SPANS);
        if (spans.dropped() > 0) {
            notes.add(
                    "off-cpu: "
                            + spans.dropped()
                            + " spans shorter than "
                            + spans.threshold()
                            + " ns are not on the page.");
        }
        int[] rows =
                IntStream.range(0, spans.size())
                        .filter(i -> trackOf.containsKey(spans.thread(i)))
                        .boxed()
                        .sorted(Comparator.comparingLong((Integer i) -> spans.start(i)))
                        .mapToInt(Integer::intValue)
                        .toArray();
        return new Samples(
                "off-cpu",
                Unit.NANOS,
                Arrays.stream(rows).mapToLong(spans::start).toArray(),
                Arrays.stream(rows).map(i -> trackOf.getOrDefault(spans.thread(i), -1)).toArray(),
                Arrays.stream(rows)
                        .map(i ->
                                columns.node(
                                        name(spans.thread(i)),
                                        found.trees().withoutTracing(spans.node(i))))
                        .toArray(),
                Arrays.stream(rows).mapToLong(spans::nanos).toArray());
    }
}
