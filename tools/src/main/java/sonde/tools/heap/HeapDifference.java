package sonde.tools.heap;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.event.heap.HeapProfile;
import sonde.event.heap.HeapStack;
import sonde.event.heap.HeapSums;
import sonde.event.result.Frame;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.event.result.Unit;
import sonde.view.NumberText;

/**
 * What a second profile has more or less than a first one, by function and line. Addresses without
 * names are put together by module: they differ between runs.
 */
final class HeapDifference {
    private static final int SUMMARY_ROWS = 5;

    private final HeapProfile before;
    private final HeapProfile after;
    private final HeapView view;

    HeapDifference(HeapProfile before, HeapProfile after, HeapView view) {
        this.before = before;
        this.after = after;
        this.view = view;
    }

    private static final class ChangedPlace {
        private final Frame frame;
        private long before;
        private long after;

        ChangedPlace(Frame frame) {
            this.frame = frame;
        }

        long change() {
            return after - before;
        }
    }

    private record ChangedTotal(String name, HeapMeasure measure) {}

    Report report() {
        List<Result> sections = new ArrayList<>();
        List<String> answer = new ArrayList<>();
        sections.add(totals());
        for (HeapMeasure measure : HeapMeasure.values()) {
            boolean known = measure.isKnown(before.totals()) && measure.isKnown(after.totals());
            if (known && measure.isKnown(before.stacks()) && measure.isKnown(after.stacks())) {
                List<ChangedPlace> places = places(measure);
                if (measure.unit == Unit.BYTES && measure != HeapMeasure.ALLOCATED) {
                    answer.add(sentence(measure, places));
                }
                if (view.shows(measure.section)) {
                    sections.add(table(measure, places));
                }
            }
        }
        List<String> notes = new ArrayList<>(before.notes());
        notes.addAll(after.notes());
        return new Report(view.title(), answer, notes.stream().distinct().toList(), sections);
    }

    private List<ChangedPlace> places(HeapMeasure measure) {
        Map<Frame, ChangedPlace> places = new HashMap<>();
        for (HeapStack stack : before.stacks()) {
            place(places, stack).before += measure.of(stack.sums());
        }
        for (HeapStack stack : after.stacks()) {
            place(places, stack).after += measure.of(stack.sums());
        }
        return places.values().stream()
                .filter(place -> place.change() != 0)
                .sorted(
                        Comparator.comparingLong((ChangedPlace place) -> -Math.abs(place.change()))
                                .thenComparing(place -> place.frame.shown()))
                .toList();
    }

    private static ChangedPlace place(Map<Frame, ChangedPlace> places, HeapStack stack) {
        Frame frame = HeapRanking.frames(stack).getFirst();
        String module = HeapReport.lastName(frame.module());
        boolean unnamed = frame.name().startsWith("[") && !module.isEmpty();
        Frame key =
                unnamed
                        ? new Frame("[" + module + "]", module, frame.kind())
                        : new Frame(
                                frame.name(),
                                module,
                                frame.kind(),
                                frame.inlined(),
                                frame.file(),
                                frame.line());
        return places.computeIfAbsent(key, ChangedPlace::new);
    }

    private Table totals() {
        List<ChangedTotal> rows = new ArrayList<>();
        for (HeapMeasure measure : HeapMeasure.values()) {
            if (measure.isKnown(before.totals()) && measure.isKnown(after.totals())) {
                rows.add(new ChangedTotal(measure.section, measure));
            }
        }
        return new TableBuilder<ChangedTotal>("totals")
                .text("number", ChangedTotal::name)
                .text("before", row -> text(row.measure, row.measure.of(before.totals()), false))
                .text("after", row -> text(row.measure, row.measure.of(after.totals()), false))
                .text(
                        "change",
                        row ->
                                text(
                                        row.measure,
                                        row.measure.of(after.totals())
                                                - row.measure.of(before.totals()),
                                        true))
                .table(rows);
    }

    private static String text(HeapMeasure measure, long value, boolean signed) {
        String text = NumberText.text(measure.unit, value, true);
        return signed && value > 0 ? "+" + text : text;
    }

    private Table table(HeapMeasure measure, List<ChangedPlace> places) {
        int rows = view.isSummary() ? Math.min(SUMMARY_ROWS, view.rows()) : view.rows();
        return new TableBuilder<ChangedPlace>(measure.section)
                .column("change", measure.unit, ChangedPlace::change)
                .column("before", measure.unit, place -> place.before)
                .column("after", measure.unit, place -> place.after)
                .text("function", place -> place.frame.shown())
                .text("module", place -> place.frame.module())
                .table(places, rows);
    }

    private String sentence(HeapMeasure measure, List<ChangedPlace> places) {
        HeapSums first = before.totals();
        HeapSums second = after.totals();
        long change = measure.of(second) - measure.of(first);
        String what = measure == HeapMeasure.PEAK ? "The peak" : "What was not freed";
        String both =
                NumberText.text(Unit.BYTES, measure.of(first), true)
                        + " to "
                        + NumberText.text(Unit.BYTES, measure.of(second), true);
        if (change == 0) {
            return what + " did not change: " + both + ".";
        }
        @Nullable ChangedPlace most = null;
        for (ChangedPlace place : places) {
            if (most == null && place.change() > 0 == change > 0) {
                most = place;
            }
        }
        String by =
                most == null
                        ? ""
                        : "; "
                                + most.frame.shown()
                                + " has "
                                + NumberText.text(Unit.BYTES, Math.abs(most.change()), true)
                                + (change > 0 ? " more" : " less");
        return what + (change > 0 ? " grew from " : " shrank from ") + both + by + ".";
    }
}
