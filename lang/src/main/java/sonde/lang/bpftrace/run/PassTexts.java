package sonde.lang.bpftrace.run;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import sonde.lang.bpftrace.check.MapSymbol;
import sonde.lang.bpftrace.check.ScriptClause;
import sonde.lang.bpftrace.expand.TreeText;
import sonde.lang.bpftrace.lower.EventAction;
import sonde.lang.bpftrace.lower.EventAction.CatAction;
import sonde.lang.bpftrace.lower.EventAction.ExitAction;
import sonde.lang.bpftrace.lower.EventAction.FaultAction;
import sonde.lang.bpftrace.lower.EventAction.JoinAction;
import sonde.lang.bpftrace.lower.EventAction.PacketAction;
import sonde.lang.bpftrace.lower.EventAction.PatternAction;
import sonde.lang.bpftrace.lower.EventAction.PrintAction;
import sonde.lang.bpftrace.lower.EventAction.PutAction;
import sonde.lang.bpftrace.lower.EventAction.ReportAction;
import sonde.lang.bpftrace.lower.EventAction.SystemAction;
import sonde.lang.bpftrace.lower.EventAction.TimeAction;
import sonde.lang.bpftrace.lower.EventAction.UnwatchAction;
import sonde.lang.bpftrace.lower.MapPlan;
import sonde.lang.bpftrace.lower.ScriptUnit;
import sonde.lang.ir.Assembly;
import sonde.lang.ir.Assembly.AssemblySymbols;
import sonde.lang.probes.Probe;
import sonde.lang.probes.ProbeGroup;
import sonde.lang.type.TupleType;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.VoidType;

/** What passes made, to be read by people. */
final class PassTexts {
    private PassTexts() {}

    static String probes(List<PlannedClause> planned) {
        StringBuilder out = new StringBuilder(1024);
        int number = 0;
        for (PlannedClause one : planned) {
            ProbeGroup group = one.group();
            out.append("program ").append(++number).append(": ").append(way(group)).append('\n');
            for (Probe probe : group.probes()) {
                out.append("  ").append(probe.name()).append('\n');
            }
        }
        return out.toString();
    }

    private static String way(ProbeGroup group) {
        int count = group.probes().size();
        return group.first().kind().name().toLowerCase(Locale.ROOT)
                + (count == 1 ? "" : ", " + count + " probes")
                + (group.session() ? ", begin and return by one link" : "")
                + (group.multi() && !group.session() ? ", one link" : "");
    }

    static String types(Map<String, MapSymbol> maps, List<PlannedClause> planned) {
        StringBuilder out = new StringBuilder(1024);
        for (MapSymbol map : maps.values()) {
            String key = map.isScalar() ? "" : "[" + map.key() + "]";
            out.append(map.name()).append(key).append(": ").append(map.value()).append('\n');
        }
        planned.stream().flatMap(PlannedClause::parts).forEach(part -> types(part.clause(), out));
        return out.toString();
    }

    private static void types(ScriptClause clause, StringBuilder out) {
        out.append("# ").append(clause.site().name()).append('\n');
        out.append(
                TreeText.of(
                        clause.probe(),
                        expression -> {
                            ValueType type = clause.type(expression);
                            return type instanceof VoidType ? "" : ":" + type;
                        }));
    }

    static String resources(ScriptUnit unit) {
        StringBuilder out = new StringBuilder(1024);
        for (MapPlan map : unit.maps().values()) {
            out.append(map.name()).append(": ");
            out.append(
                    map.isKeptByTracer()
                            ? "kept by the tracer"
                            : map.type().name().toLowerCase(Locale.ROOT)
                                    + ", keys of %d bytes, values of %d, room for %d"
                                            .formatted(
                                                    map.keyBytes(),
                                                    map.valueBytes(),
                                                    map.entries()));
            out.append('\n');
        }
        out.append("texts: ").append(unit.texts().length).append(" bytes\n");
        out.append("beside the stack: ").append(unit.frameBytes()).append(" bytes\n");
        out.append("losses and first values: ").append(unit.shared().length).append(" bytes\n");
        int number = 0;
        for (EventAction action : unit.actions()) {
            out.append("event ").append(number++).append(": ").append(action(action)).append('\n');
        }
        return out.toString();
    }

    private static String action(EventAction action) {
        return switch (action) {
            case PrintAction a -> "printf " + written(a.format(), a.arguments());
            case CatAction a -> "cat " + written(a.format(), a.arguments());
            case SystemAction a -> "system " + written(a.format(), a.arguments());
            case ReportAction a ->
                    (a.error() ? "errorf " : "warnf ") + written(a.format(), a.arguments());
            case EventAction.PrintValue a -> "print " + a.type();
            case EventAction.PrintMap a -> "print " + a.map();
            case EventAction.EmptyMap a -> (a.keepKeys() ? "zero " : "clear ") + a.map();
            case PutAction a -> "put into " + a.map();
            case TimeAction a -> "time " + TreeText.quoted(a.format());
            case PatternAction a -> "pattern " + TreeText.quoted(a.text());
            case JoinAction a -> "join, " + a.most() + " of " + a.textBytes() + " bytes";
            case PacketAction a -> "packet into " + TreeText.quoted(a.path());
            case EventAction.HelperError a -> "a failure of " + a.helper();
            case FaultAction a ->
                    "fault " + a.fault().name().toLowerCase(Locale.ROOT).replace('_', ' ');
            case ExitAction _ -> "exit";
            case UnwatchAction _ -> "unwatch";
        };
    }

    private static String written(String format, TupleType arguments) {
        return TreeText.quoted(format) + " " + arguments;
    }

    static String programs(List<CompiledProgram> programs, Function<Assembly, String> text) {
        return programs.stream()
                .map(one -> "# " + one.group().first().name() + "\n" + text.apply(one.assembly()))
                .collect(Collectors.joining("\n"));
    }

    static String code(Assembly assembly) {
        return assembly.code(
                        new AssemblySymbols() {
                            @Override
                            public int map(String name) {
                                return 0;
                            }

                            @Override
                            public int function(String kernelFunction) {
                                return 0;
                            }
                        })
                .toString();
    }
}
