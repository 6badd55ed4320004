package sonde.tools.explain;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import sonde.event.result.CallChains;
import sonde.event.result.Report;
import sonde.event.result.Timeline;
import sonde.event.result.TimelineLanes;
import sonde.event.result.TimelineLanes.MarkLane;

/**
 * The incidents of logs as a page.
 *
 * @param report the table and the explanations
 * @param timeline when each incident began, in nanoseconds of the logs' own times
 */
public record IncidentPage(Report report, Timeline timeline) {
    private static final long MARGIN = 10_000_000;

    static IncidentPage of(String title, String end, IncidentCards cards) {
        List<MarkLane> lanes = cards.lanes();
        long[] times = lanes.stream().flatMapToLong(lane -> Arrays.stream(lane.time())).toArray();
        long first = Arrays.stream(times).min().orElse(0);
        long last = Arrays.stream(times).max().orElse(0);
        long margin = Math.max(MARGIN, (last - first) / 20);
        String worst = cards.worst();
        List<String> notes = new ArrayList<>(List.of(end.strip()));
        notes.addAll(cards.notes());
        if (lanes.isEmpty() && !cards.isEmpty()) {
            notes.add("The log has no times since the boot, so there is no timeline.");
        }
        Report report =
                new Report(
                        title,
                        worst == null ? List.of() : List.of(worst),
                        notes,
                        cards.isEmpty() ? List.of() : List.of(cards.list("incidents")));
        Timeline timeline =
                new Timeline(
                        "timeline",
                        Math.max(0, first - margin),
                        last + margin,
                        List.of(),
                        List.of(),
                        new CallChains(List.of(), new int[0], new int[0]),
                        List.of(),
                        new long[0],
                        new TimelineLanes(List.of(), lanes, ""));
        return new IncidentPage(report, timeline);
    }
}
