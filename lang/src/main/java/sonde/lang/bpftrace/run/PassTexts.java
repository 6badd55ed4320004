package sonde.lang.bpftrace.run;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import sonde.lang.bpftrace.check.Clause;
import sonde.lang.bpftrace.check.MapSymbol;
import sonde.lang.bpftrace.expand.TreeText;
import sonde.lang.bpftrace.lower.Action;
import sonde.lang.bpftrace.lower.MapPlan;
import sonde.lang.bpftrace.lower.Unit;
import sonde.lang.ir.Assembly;
import sonde.lang.probes.Probe;
import sonde.lang.probes.ProbeGroup;
import sonde.lang.type.Tuple;
import sonde.lang.type.Type;

/** What passes made, to be read by people. */
final class PassTexts {
    private PassTexts() {}

    static String probes(List<Planned> planned) {
        StringBuilder out = new StringBuilder(1024);
        int number = 0;
        for (Planned one : planned) {
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

    static String types(Map<String, MapSymbol> maps, List<Planned> planned) {
        StringBuilder out = new StringBuilder(1024);
        for (MapSymbol map : maps.values()) {
            String key = map.isScalar() ? "" : "[" + map.key() + "]";
            out.append(map.name()).append(key).append(": ").append(map.value()).append('\n');
        }
        planned.stream().flatMap(Planned::parts).forEach(part -> types(part.clause(), out));
        return out.toString();
    }

    private static void types(Clause clause, StringBuilder out) {
        out.append("# ").append(clause.site().name()).append('\n');
        out.append(
                TreeText.of(
                        clause.probe(),
                        expression -> {
                            Type type = clause.type(expression);
                            return type instanceof Type.Void ? "" : ":" + type;
                        }));
    }

    static String resources(Unit unit) {
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
        for (Action action : unit.actions()) {
            out.append("event ").append(number++).append(": ").append(action(action)).append('\n');
        }
        return out.toString();
    }

    private static String action(Action action) {
        return switch (action) {
            case Action.Print a -> "printf " + written(a.format(), a.arguments());
            case Action.Cat a -> "cat " + written(a.format(), a.arguments());
            case Action.System a -> "system " + written(a.format(), a.arguments());
            case Action.Report a ->
                    (a.error() ? "errorf " : "warnf ") + written(a.format(), a.arguments());
            case Action.PrintValue a -> "print " + a.type();
            case Action.PrintMap a -> "print " + a.map();
            case Action.EmptyMap a -> (a.keepKeys() ? "zero " : "clear ") + a.map();
            case Action.Put a -> "put into " + a.map();
            case Action.Time a -> "time " + TreeText.quoted(a.format());
            case Action.Pattern a -> "pattern " + TreeText.quoted(a.text());
            case Action.Join a -> "join, " + a.most() + " of " + a.textBytes() + " bytes";
            case Action.Packet a -> "packet into " + TreeText.quoted(a.path());
            case Action.HelperError a -> "a failure of " + a.helper();
            case Action.Fault a ->
                    "fault " + a.fault().name().toLowerCase(Locale.ROOT).replace('_', ' ');
            case Action.Exit _ -> "exit";
            case Action.Unwatch _ -> "unwatch";
        };
    }

    private static String written(String format, Tuple arguments) {
        return TreeText.quoted(format) + " " + arguments;
    }

    static String programs(List<CompiledProgram> programs, Function<Assembly, String> text) {
        return programs.stream()
                .map(one -> "# " + one.group().first().name() + "\n" + text.apply(one.assembly()))
                .collect(Collectors.joining("\n"));
    }

    static String code(Assembly assembly) {
        return assembly.code(
                        new Assembly.Symbols() {
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
