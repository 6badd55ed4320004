package sonde.tools.explain;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Column;
import sonde.event.result.IncidentList;
import sonde.event.result.Table;
import sonde.event.result.TimelineLanes.MarkLane;
import sonde.event.result.Unit;
import sonde.tools.explain.IncidentKind.IncidentWeight;

/** Incidents as a page shows them: a card and a row of a table for each, and marks in time. */
final class IncidentCards {
    /** Incidents with a card; the table and the marks have the others, too. */
    private static final int MOST_CARDS = 500;

    private static final int MOST_ROWS = 20_000;
    private static final int MOST_LINE = 1000;
    private static final int MOST_SOURCES = 64;

    /** Tasks print at the same time; beyond this, times went back because of a boot. */
    private static final double BACK_SECONDS = 1;

    private final List<Map<String, @Nullable Object>> cards = new ArrayList<>();
    private final List<List<@Nullable Object>> rows = new ArrayList<>();
    private final Map<String, Map<IncidentWeight, List<IncidentMark>>> lanes =
            new LinkedHashMap<>();
    private long count;
    private @Nullable String worst;
    private IncidentWeight worstWeight = IncidentWeight.NOTICE;

    private String log = "";
    private int boot = 1;
    private double last;

    private record IncidentMark(long time, String text) {}

    /** Takes an incident of a log; its times begin anew with each boot. */
    void add(Incident incident, IncidentWriter writer) throws IOException {
        double seconds = incident.first().seconds();
        if (!writer.log().equals(log)) {
            log = writer.log();
            boot = 1;
            last = 0;
        }
        boot += seconds < last - BACK_SECONDS ? 1 : 0;
        last = incident.first().hasTime() ? seconds : last;
        String lane = log.isEmpty() ? "" : log + ": ";
        lane += boot > 1 ? "boot " + boot + ", " : "";
        add(incident, writer, lane, incident.first().hasTime() ? (long) (seconds * 1e9) : -1);
    }

    /**
     * Takes an incident.
     *
     * @param nanos when it began; negative where the log does not say
     * @param lane the name of its lane before the severity
     */
    void add(Incident incident, IncidentWriter writer, String lane, long nanos) throws IOException {
        count++;
        String label = (writer.log() + " #" + incident.number()).strip();
        IncidentWeight weight = incident.kind().severity();
        String what = IncidentWriter.what(incident);
        if (incident.after() == 0 && weight.compareTo(worstWeight) < 0) {
            worstWeight = weight;
            worst = label + ", " + incident.identity() + (what.isEmpty() ? "" : ": " + what);
        }
        if (count > MOST_ROWS) {
            return;
        }
        @Nullable Long time = nanos < 0 ? null : nanos;
        String where = IncidentWriter.where(incident);
        List<@Nullable Object> row = new ArrayList<>();
        row.add(label);
        row.add(time);
        row.add(word(weight));
        row.add(incident.identity());
        row.add(where);
        row.add(IncidentWriter.who(incident));
        rows.add(row);
        if (time != null) {
            lanes.computeIfAbsent(lane, _ -> new EnumMap<>(IncidentWeight.class))
                    .computeIfAbsent(weight, _ -> new ArrayList<>())
                    .add(new IncidentMark(nanos, label + "  " + incident.identity()));
        }
        if (cards.size() < MOST_CARDS) {
            cards.add(card(incident, writer, label, time, where));
        }
    }

    private static Map<String, @Nullable Object> card(
            Incident incident,
            IncidentWriter writer,
            String label,
            @Nullable Long time,
            String where)
            throws IOException {
        Map<String, @Nullable Object> card = writer.values(incident);
        card.put("label", label);
        card.put("time", time);
        card.put("where", where);
        card.put("who", IncidentWriter.who(incident));
        card.put("on", IncidentWriter.machine(incident));
        LogFrame blamed = incident.blamed();
        int sources = 0;
        List<Object> stacks = new ArrayList<>();
        for (LogStack stack : incident.stacks()) {
            List<Object> frames = new ArrayList<>();
            for (LogFrame frame : stack.frames()) {
                Map<String, Object> one = IncidentWriter.frame(frame);
                one.put("blamed", blamed != null && blamed.function().equals(frame.function()));
                if (sources < MOST_SOURCES) {
                    List<String> source = writer.excerpt(frame);
                    sources += source.isEmpty() ? 0 : 1;
                    one.put("source", source);
                }
                frames.add(one);
            }
            stacks.add(Map.of("heading", stack.heading(), "frames", frames));
        }
        card.put("stacks", stacks);
        List<String> lines = new ArrayList<>();
        for (LogLine line : incident.lines()) {
            String text = line.text();
            lines.add(
                    (line.hasTime() ? "[%12.6f] ".formatted(line.seconds()) : "")
                            + (line.context().isEmpty() ? "" : "[" + line.context() + "] ")
                            + text.substring(0, Math.min(MOST_LINE, text.length())));
        }
        card.put("lines", lines);
        return card;
    }

    boolean isEmpty() {
        return count == 0;
    }

    /** The worst fault that follows from no other; null where there is none. */
    @Nullable String worst() {
        return worst;
    }

    /** What is left out, in sentences. */
    List<String> notes() {
        List<String> notes = new ArrayList<>();
        if (cards.size() < count) {
            notes.add(
                    "The first %,d of %,d incidents are explained one by one; the table has %,d."
                            .formatted(cards.size(), count, rows.size()));
        }
        return notes;
    }

    IncidentList list(String title) {
        List<Column> columns =
                List.of(
                        Column.text("incident"),
                        new Column("time", Unit.TIMESTAMP),
                        Column.text("severity"),
                        Column.text("identity"),
                        Column.text("where"),
                        Column.text("who"));
        return new IncidentList(title, cards, new Table(title, columns, rows));
    }

    /** A lane for each severity of each log, worst first. */
    List<MarkLane> lanes() {
        List<MarkLane> all = new ArrayList<>();
        lanes.forEach((lane, byWeight) ->
                byWeight.forEach((weight, unsorted) -> {
                    List<IncidentMark> marks = new ArrayList<>(unsorted);
                    marks.sort(Comparator.comparingLong(IncidentMark::time));
                    all.add(
                            new MarkLane(
                                    lane + word(weight),
                                    marks.size(),
                                    marks.stream().mapToLong(IncidentMark::time).toArray(),
                                    marks.stream().mapToInt(_ -> -1).toArray(),
                                    marks.stream().map(IncidentMark::text).toList()));
                }));
        return all;
    }

    private static String word(IncidentWeight weight) {
        return weight.name().toLowerCase(Locale.ROOT);
    }
}
