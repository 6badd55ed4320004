package sonde.probe.dynamic;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.ObjectLocation.AbsentLocation;
import sonde.binary.dwarf.location.ObjectLocation.ImplicitValue;
import sonde.binary.dwarf.location.SourceScope;
import sonde.binary.dwarf.location.SourceVariable;
import sonde.binary.dwarf.location.SymbolicValue.ConstantValue;
import sonde.probe.dynamic.FetchArgument.FetchException;
import sonde.probe.dynamic.FetchArgument.FetchOrigin.ProgramOrigin;
import sonde.probe.dynamic.FetchArgument.FetchOrigin.ZeroOrigin;
import sonde.probe.dynamic.PointSpec.PointPlace;
import sonde.probe.dynamic.ProbeOperand.CalculatedOperand;
import sonde.probe.dynamic.ProbeOperand.HeldOperand;
import sonde.probe.dynamic.ProbeOperand.KernelOperand;
import sonde.probe.dynamic.ProbeOperand.OperandPart;
import sonde.probe.dynamic.ProbeOperand.SplitOperand;
import sonde.probe.dynamic.ProbeOperand.StoredOperand;
import sonde.symbol.ctype.SourceType;

/**
 * Variables that a probe can see at one address.
 *
 * @param place in the source: {@code "f:3"}
 * @param code of the machine: {@code "f+67"}
 */
public record VariableView(String place, String code, String note, List<ViewedVariable> rows) {
    /**
     * A variable.
     *
     * @param type as the source spells it
     * @param where it lives: {@code "%di"}, {@code "+8(%sp)"}, {@code "= 5"}, {@code "optimised
     *     away"}
     * @param isAvailable whether a probe can read it here
     */
    public record ViewedVariable(
            String name, String type, String where, boolean isParameter, boolean isAvailable) {}

    /** The variables of every copy of a place. */
    public static List<VariableView> of(ProbedObject subject, String place) throws IOException {
        List<VariableView> views = new ArrayList<>();
        PointResolver resolver = new PointResolver(subject);
        FunctionPrologue prologue = new FunctionPrologue(subject, resolver);
        PointPlace wanted = PointSpec.place(place);
        for (ProbeLocation spot : resolver.spots(wanted)) {
            views.add(of(subject, prologue.behind(spot, wanted)));
        }
        return views;
    }

    private static VariableView of(ProbedObject subject, ProbeLocation spot) throws IOException {
        LocationScope here = new LocationScope(subject, spot);
        List<ViewedVariable> rows = new ArrayList<>();
        SourceScope scope = spot.scope();
        if (scope == null) {
            for (String name : here.names(true)) {
                ProbeOperand operand = here.variable(name, 0, name);
                rows.add(
                        new ViewedVariable(
                                name, operand.type().spelling(), where(here, operand), true, true));
            }
        } else {
            for (SourceVariable variable : scope.variables()) {
                rows.add(row(here, variable));
            }
        }
        return new VariableView(spot.place(), spot.code(), spot.note(), rows);
    }

    private static ViewedVariable row(LocationScope here, SourceVariable variable)
            throws MalformedInputException {
        SourceType type = here.type(variable);
        try {
            ProbeOperand operand = here.of(variable, type);
            return new ViewedVariable(
                    variable.name(),
                    type.spelling(),
                    where(here, operand),
                    variable.isParameter(),
                    true);
        } catch (ProbeException e) {
            String why = String.valueOf(e.getMessage());
            return new ViewedVariable(
                    variable.name(), type.spelling(), why, variable.isParameter(), false);
        } catch (FetchException e) {
            boolean absent = variable.location() instanceof AbsentLocation;
            boolean constant =
                    variable.location() instanceof ImplicitValue computed
                            && computed.value() instanceof ConstantValue;
            String why = absent ? "optimised away" : e.reason();
            return new ViewedVariable(
                    variable.name(), type.spelling(), why, variable.isParameter(), constant);
        }
    }

    private static String where(LocationScope here, ProbeOperand operand) throws ProbeException {
        return switch (operand) {
            case StoredOperand o -> o.address().memory(here.statics(), false);
            case HeldOperand o -> o.token();
            case CalculatedOperand o -> {
                FetchArgument value = o.value();
                if (value.origin() instanceof ZeroOrigin) {
                    yield "= " + value.offset();
                }
                if (value.origin() instanceof ProgramOrigin) {
                    yield "= the program's address 0x" + Long.toHexString(value.offset());
                }
                String base = new FetchArgument(value.origin(), 0).number(here.statics());
                yield value.offset() == 0
                        ? "= " + base
                        : "= "
                                + base
                                + (value.offset() < 0 ? " - " : " + ")
                                + Math.abs(value.offset());
            }
            case SplitOperand o -> {
                List<String> parts = new ArrayList<>();
                for (OperandPart part : o.parts()) {
                    parts.add(where(here, part.place()));
                }
                yield String.join(", ", parts);
            }
            case KernelOperand o -> o.text().isEmpty() ? "-" : o.text();
        };
    }
}
