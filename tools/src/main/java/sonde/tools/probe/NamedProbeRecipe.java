package sonde.tools.probe;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.event.result.TextLayout;
import sonde.probe.dynamic.NamedProbes;
import sonde.probe.dynamic.NamedProbes.ListedProbe;
import sonde.probe.dynamic.PointSpec;
import sonde.probe.dynamic.ProbeDefiner;
import sonde.probe.dynamic.ProbeDefinition;
import sonde.probe.dynamic.ProbeException;
import sonde.probe.dynamic.ProbeKinds;
import sonde.probe.dynamic.ProbedObject;
import sonde.view.TextEscape;

/** Named probes of this kernel: adds, lists and removes them. */
public final class NamedProbeRecipe {
    private NamedProbeRecipe() {}

    /** All, those of other tools too. */
    public static ProbeAnswer list() throws IOException {
        List<ListedProbe> all = NamedProbes.open().list();
        Table table =
                new TableBuilder<ListedProbe>("probes")
                        .text("event", ListedProbe::event)
                        .text("kind", ListedProbe::kind)
                        .text("place", ListedProbe::place)
                        .text("arguments", ListedProbe::arguments)
                        .text("source", ListedProbe::source)
                        .text("by", one -> one.isOurs() ? "sonde" : "")
                        .text("changed", ListedProbe::changed)
                        .count("hits", ListedProbe::hits)
                        .count("misses", ListedProbe::misses)
                        .table(all);
        return new ProbeAnswer(
                new TextLayout(table, out -> all.forEach(one -> listed(one, out))),
                all.isEmpty()
                        ? List.of("there are no probes; sonde probe add makes them")
                        : List.of(),
                !all.isEmpty());
    }

    private static void listed(ListedProbe one, PrintWriter out) {
        String shown =
                one.isOurs()
                        ? "on " + one.source()
                        : "on "
                                + one.place()
                                + " "
                                + one.arguments()
                                + "   (not made by sonde probe)";
        Long hits = one.hits();
        Long misses = one.misses();
        shown += hits == null ? "" : "   " + hits + (hits == 1 ? " hit" : " hits");
        shown += misses == null || misses == 0 ? "" : ", " + misses + " missed";
        shown += one.changed().isEmpty() ? "" : "   (" + changed(one) + ")";
        out.println("%-32s %s".formatted(one.event(), TextEscape.line(shown)).stripTrailing());
    }

    /** Says that the kernel still probes the file that was there before. */
    public static String changed(ListedProbe one) {
        return one.changed() + " was changed since, the probe is in the old file: add it again";
    }

    /**
     * Removes probes.
     *
     * @param patterns names and globs
     * @param any whether those of other tools are removed too
     */
    public static ProbeAnswer delete(List<String> patterns, boolean any) throws IOException {
        NamedProbes probes = NamedProbes.open();
        Map<String, Boolean> removed = new LinkedHashMap<>();
        List<String> notes = new ArrayList<>();
        for (String pattern : patterns) {
            Map<String, Boolean> done = probes.delete(pattern, any);
            removed.putAll(done);
            if (done.isEmpty()) {
                notes.add("no probe is called " + pattern);
            }
        }
        Table table =
                new TableBuilder<Map.Entry<String, Boolean>>("probes")
                        .text("event", Map.Entry::getKey)
                        .text("removed", one -> one.getValue() ? "yes" : "no")
                        .table(removed.entrySet());
        return new ProbeAnswer(
                new TextLayout(
                        table,
                        out ->
                                removed.forEach((event, done) ->
                                        out.println(
                                                event
                                                        + (done
                                                                ? " removed"
                                                                : " left: not made by sonde probe; --any"
                                                                        + " removes it too")))),
                notes,
                removed.containsValue(true));
    }

    /**
     * Adds probes, or shows what would be written to the kernel.
     *
     * @param points of one module at most, see {@link #module}
     * @param dryRun whether nothing is written
     * @param choice sets the definer up
     */
    public static ProbeAnswer add(
            ProbedObject subject,
            List<PointSpec> points,
            boolean dryRun,
            UnaryOperator<ProbeDefiner> choice)
            throws IOException {
        NamedProbes probes = null;
        Set<String> taken = Set.of();
        ProbeKinds kinds = ProbeKinds.ALL;
        try {
            probes = NamedProbes.open();
            taken = probes.events();
            kinds = probes.kinds();
        } catch (IOException e) {
            if (!dryRun) {
                throw e; // else the names that are taken stay unknown
            }
        }
        ProbeDefiner definer =
                choice.apply(new ProbeDefiner(subject).avoiding(taken).choosing(kinds));
        List<ProbeDefinition> made = new ArrayList<>();
        for (PointSpec point : points) {
            made.addAll(definer.define(point));
        }
        List<String> notes = new ArrayList<>(subject.notes());
        Table table =
                new TableBuilder<ProbeDefinition>("probes")
                        .text("event", ProbeDefinition::event)
                        .text("definition", ProbeDefinition::text)
                        .text("source", ProbeDefinition::source)
                        .text("note", ProbeDefinition::note)
                        .table(made);
        if (dryRun || probes == null) {
            subject.foreign().ifPresent(notes::add);
            return new ProbeAnswer(
                    new TextLayout(
                            table,
                            out ->
                                    made.forEach(one -> {
                                        out.println(TextEscape.line(one.text()));
                                        out.println("    " + TextEscape.line(described(one)));
                                    })),
                    notes,
                    true);
        }
        probes.add(subject, made);
        return new ProbeAnswer(new TextLayout(table, out -> added(made, out)), notes, true);
    }

    /** The module that all points name; empty for none. */
    public static String module(List<PointSpec> points) throws ProbeException {
        List<String> modules = points.stream().map(PointSpec::module).distinct().toList();
        if (modules.size() > 1) {
            throw new ProbeException("one module at a time: " + String.join(", ", modules).strip());
        }
        return modules.isEmpty() ? "" : modules.getFirst();
    }

    private static String described(ProbeDefinition one) {
        return "at " + one.source() + (one.note().isEmpty() ? "" : "; " + one.note());
    }

    private static void added(List<ProbeDefinition> made, PrintWriter out) {
        Map<String, List<ProbeDefinition>> byEvent = new LinkedHashMap<>();
        made.forEach(one -> byEvent.computeIfAbsent(one.event(), _ -> new ArrayList<>()).add(one));
        byEvent.forEach((event, all) -> {
            out.println(event);
            all.forEach(one -> out.println("    " + TextEscape.line(described(one))));
        });
        String first = made.getFirst().event();
        out.println();
        out.println("sonde record -e " + first + " -- COMMAND   records it");
        out.println("sonde probe del " + first + "   removes it");
    }
}
