package sonde.probe.dynamic;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.Location;
import sonde.binary.dwarf.location.Scope;
import sonde.binary.dwarf.location.Value;
import sonde.binary.dwarf.location.Variable;
import sonde.symbol.ctype.SourceType;

/**
 * Variables that a probe can see at one address.
 *
 * @param place in the source: {@code "f:3"}
 * @param code of the machine: {@code "f+67"}
 */
public record VariableView(String place, String code, String note, List<Row> rows) {
    /**
     * A variable.
     *
     * @param type as the source spells it
     * @param where it lives: {@code "%di"}, {@code "+8(%sp)"}, {@code "= 5"}, {@code "optimised
     *     away"}
     * @param isAvailable whether a probe can read it here
     */
    public record Row(
            String name, String type, String where, boolean isParameter, boolean isAvailable) {}

    /** Of every copy of a place. */
    public static List<VariableView> of(Subject subject, String place) throws IOException {
        List<VariableView> views = new ArrayList<>();
        Resolver resolver = new Resolver(subject);
        Prologue prologue = new Prologue(subject, resolver);
        PointSpec.Place wanted = PointSpec.place(place);
        for (Spot spot : resolver.spots(wanted)) {
            views.add(of(subject, prologue.behind(spot, wanted)));
        }
        return views;
    }

    private static VariableView of(Subject subject, Spot spot) throws IOException {
        SpotSurroundings here = new SpotSurroundings(subject, spot);
        List<Row> rows = new ArrayList<>();
        Scope scope = spot.scope();
        if (scope == null) {
            for (String name : here.names(true)) {
                Operand operand = here.variable(name, 0, name);
                rows.add(
                        new Row(name, operand.type().spelling(), where(here, operand), true, true));
            }
        } else {
            for (Variable variable : scope.variables()) {
                rows.add(row(here, variable));
            }
        }
        return new VariableView(spot.place(), spot.code(), spot.note(), rows);
    }

    private static Row row(SpotSurroundings here, Variable variable)
            throws MalformedInputException {
        SourceType type = here.type(variable);
        try {
            Operand operand = here.of(variable, type);
            return new Row(
                    variable.name(),
                    type.spelling(),
                    where(here, operand),
                    variable.isParameter(),
                    true);
        } catch (ProbeException e) {
            String why = String.valueOf(e.getMessage());
            return new Row(variable.name(), type.spelling(), why, variable.isParameter(), false);
        } catch (Fetch.Unfit e) {
            boolean absent = variable.location() instanceof Location.Absent;
            boolean constant =
                    variable.location() instanceof Location.Computed computed
                            && computed.value() instanceof Value.Constant;
            String why = absent ? "optimised away" : e.reason();
            return new Row(variable.name(), type.spelling(), why, variable.isParameter(), constant);
        }
    }

    private static String where(SpotSurroundings here, Operand operand) throws ProbeException {
        return switch (operand) {
            case Operand.Stored o -> o.address().memory(here.statics(), false);
            case Operand.Held o -> o.token();
            case Operand.Plain o -> {
                Fetch value = o.value();
                if (value.origin() instanceof Fetch.Origin.Zero) {
                    yield "= " + value.offset();
                }
                if (value.origin() instanceof Fetch.Origin.Program) {
                    yield "= the program's address 0x" + Long.toHexString(value.offset());
                }
                String base = new Fetch(value.origin(), 0).number(here.statics());
                yield value.offset() == 0
                        ? "= " + base
                        : "= "
                                + base
                                + (value.offset() < 0 ? " - " : " + ")
                                + Math.abs(value.offset());
            }
            case Operand.Split o -> {
                List<String> parts = new ArrayList<>();
                for (Operand.Part part : o.parts()) {
                    parts.add(where(here, part.place()));
                }
                yield String.join(", ", parts);
            }
            case Operand.Words o -> o.text().isEmpty() ? "-" : o.text();
        };
    }
}
