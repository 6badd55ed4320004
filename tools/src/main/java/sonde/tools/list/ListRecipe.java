package sonde.tools.list;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.event.Field;
import sonde.event.result.Column;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.Unit;
import sonde.probe.plan.EventCatalogue;
import sonde.probe.plan.EventCatalogue.PerfEventNumber;
import sonde.probe.tracefs.Tracefs;
import sonde.recording.ftrace.EventFormat;
import sonde.recording.perfdata.PerfAbi;

/** Lists the events that {@code record -e} takes. */
public final class ListRecipe {
    /** Formats read for one listing with fields. */
    private static final int MAX_FORMATS = 5000;

    private final Optional<Tracefs> tracefs;

    /** Over this machine's tracefs, when it is mounted and readable. */
    public ListRecipe() {
        this.tracefs = Tracefs.find();
    }

    /** What came of a listing. */
    public record ListOutcome(Report result, boolean found) {}

    /**
     * The events whose name, or {@code system:name}, a glob matches; a word without wildcard also
     * matches any name it is part of.
     *
     * @param withFields adds each tracepoint's fields, as its format states them
     */
    public ListOutcome list(String pattern, boolean withFields) throws IOException {
        List<String> notes = new ArrayList<>();
        String[] tracepoints = tracepoints(notes);
        EventCatalogue catalogue = new EventCatalogue(Arrays.asList(tracepoints));
        List<String> found = catalogue.tracepoints(pattern);
        List<PerfEventNumber> perf = EventCatalogue.perfEvents(pattern);
        if (found.isEmpty() && perf.isEmpty() && !isGlob(pattern)) {
            found = catalogue.tracepoints(around(pattern));
            perf = EventCatalogue.perfEvents("*" + pattern + "*");
        }
        if (found.isEmpty() && perf.isEmpty()) {
            String nearest = catalogue.nearest(pattern);
            notes.add(
                    "no event matches '"
                            + pattern
                            + "'"
                            + (nearest.isEmpty() ? "" : "; the nearest is '" + nearest + "'"));
            return new ListOutcome(new Report("", notes, List.of()), false);
        }
        List<Result> sections = new ArrayList<>();
        if (withFields) {
            for (String name : found.subList(0, Math.min(found.size(), MAX_FORMATS))) {
                sections.add(fields(name));
            }
            if (!perf.isEmpty()) {
                sections.add(names(List.of(), perf));
            }
        } else {
            sections.add(names(found, perf));
        }
        return new ListOutcome(new Report("", notes, sections), true);
    }

    private static boolean isGlob(String pattern) {
        return pattern.indexOf('*') >= 0 || pattern.indexOf('?') >= 0;
    }

    private static String around(String word) {
        int colon = word.indexOf(':');
        return colon < 0
                ? "*" + word + "*"
                : word.substring(0, colon + 1) + "*" + word.substring(colon + 1) + "*";
    }

    private String[] tracepoints(List<String> notes) throws IOException {
        if (tracefs.isEmpty()) {
            notes.add(
                    "no tracepoints: tracefs is not mounted or not readable by this user;"
                            + " run as root, or mount -t tracefs nodev "
                            + Tracefs.USUAL);
            return new String[0];
        }
        try {
            return tracefs.get().tracepoints().toArray(String[]::new);
        } catch (IOException e) {
            notes.add("no tracepoints: " + e.getMessage() + "; run as root");
            return new String[0];
        }
    }

    private static Table names(List<String> tracepoints, List<PerfEventNumber> perf) {
        List<List<@Nullable Object>> rows = new ArrayList<>();
        for (PerfEventNumber event : perf) {
            rows.add(List.of(event.name(), kind(event)));
        }
        for (String name : tracepoints) {
            rows.add(List.of(name, "tracepoint"));
        }
        return new Table("events", List.of(Column.text("event"), Column.text("kind")), rows);
    }

    private static String kind(PerfEventNumber event) {
        return event.type() == PerfAbi.PERF_TYPE_HARDWARE ? "hardware" : "software";
    }

    private Table fields(String qualifiedName) throws IOException {
        String file = "events/" + qualifiedName.replaceFirst(":", "/") + "/format";
        EventFormat format = EventFormat.parse(tracefs.orElseThrow().text(file), Long.BYTES);
        List<List<@Nullable Object>> rows = new ArrayList<>();
        for (Field field : format.fields()) {
            if (!field.name().startsWith("common_")) {
                rows.add(
                        List.of(
                                field.name(),
                                field.declaration(),
                                (long) field.offset(),
                                (long) field.sizeBytes(),
                                field.signed() ? "yes" : "no"));
            }
        }
        return new Table(
                qualifiedName,
                List.of(
                        Column.text("field"),
                        Column.text("declaration"),
                        new Column("offset", Unit.ID),
                        new Column("size", Unit.ID),
                        Column.text("signed")),
                rows);
    }
}
