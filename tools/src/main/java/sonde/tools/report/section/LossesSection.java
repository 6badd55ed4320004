package sonde.tools.report.section;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.analysis.Losses;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.format.bundle.Meta;
import sonde.tools.report.Findings;
import sonde.tools.report.ReportSection;

/** What was lost, by source and CPU. */
final class LossesSection implements ReportSection {
    /** What leaves notices in the ring as well. */
    private static final Set<Meta.LossKind> RING_LOSSES =
            Set.of(
                    Meta.LossKind.RING_FULL,
                    Meta.LossKind.COMMIT_OVERRUN,
                    Meta.LossKind.OVERWRITTEN);

    @Override
    public List<String> options() {
        return List.of("--losses");
    }

    @Override
    public String help() {
        return "what was lost, by source and CPU";
    }

    @Override
    public List<Result> results(Findings found) {
        return List.of(table(found));
    }

    private record Loss(
            String source, String what, int cpu, @Nullable Long events, @Nullable Long notices) {}

    static Table table(Findings found) {
        List<Meta.Loss> told = found.toldLosses();
        boolean account = found.meta() != null || !told.isEmpty();
        List<Loss> rows = new ArrayList<>();
        found.losses()
                .sums()
                .forEach((place, sum) -> {
                    if (!account || !isCounted(told, place, sum)) {
                        String what =
                                place.kind()
                                        + (sum.unknown() > 0 ? ", partly of unknown number" : "");
                        rows.add(
                                new Loss(
                                        place.source(),
                                        what,
                                        place.cpu(),
                                        sum.events(),
                                        sum.notices()));
                    }
                });
        for (Meta.Loss loss : told) {
            String kind = loss.kind().name().toLowerCase(Locale.ROOT).replace('_', ' ');
            String what = (loss.subject().isEmpty() ? "" : loss.subject() + ": ") + kind;
            Long count = loss.count() < 0 ? null : loss.count();
            rows.add(new Loss(loss.source(), what, loss.cpu(), count, null));
        }
        return new TableBuilder<Loss>("losses")
                .text("source", Loss::source)
                .text("what", Loss::what)
                .id("cpu", loss -> loss.cpu < 0 ? null : loss.cpu)
                .count("events", Loss::events)
                .count("notices", Loss::notices)
                .table(rows);
    }

    /** Whether the recorder's own account has all that the notices tell. */
    private static boolean isCounted(List<Meta.Loss> told, Losses.Place place, Losses.Sum sum) {
        return place.kind().equals("lost")
                && sum.events()
                        <= told.stream()
                                .filter(loss -> loss.source().equals(place.source()))
                                .filter(loss -> loss.cpu() == place.cpu())
                                .filter(loss -> RING_LOSSES.contains(loss.kind()))
                                .mapToLong(Meta.Loss::count)
                                .sum();
    }
}
