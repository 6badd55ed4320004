package sonde.lang.bpftrace.check;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.source.Diagnostics;
import sonde.lang.type.Type;
import sonde.lang.type.Type.Int;

/** The pass that finds all types and says what does not fit. */
public final class Check {
    private static final List<String> KINDS =
            List.of("hash", "lruhash", "percpuhash", "percpulruhash");
    private static final int MOST_ROUNDS = 50;

    private Check() {}

    /**
     * Finds the types of all clauses, which share their maps.
     *
     * @return the maps by name, in the order in which the script names them
     */
    public static Map<String, MapSymbol> of(
            Script script, List<Clause> clauses, Environment environment, Diagnostics diagnostics) {
        Globals globals = new Globals(environment, diagnostics);
        declare(script, globals, diagnostics);
        List<Typer> typers = new ArrayList<>();
        for (Clause clause : clauses) {
            typers.add(new Typer(globals, clause));
        }
        Set<String> unused = new HashSet<>();
        for (int round = 0; round < MOST_ROUNDS; round++) {
            globals.begin(false);
            typers.forEach(Typer::run);
            if (unused.isEmpty() && round == 0) {
                globals.maps().values().stream()
                        .filter(map -> map.keyed == null && map.value == null)
                        .forEach(map -> unused.add(map.name()));
            }
            if (!globals.hasChanged() && !settle(globals)) {
                break;
            }
        }
        globals.begin(true);
        typers.forEach(Typer::run);
        for (Script.Item item : script.items()) {
            if (item instanceof Script.MapDeclaration d && unused.contains(d.map())) {
                diagnostics.warning(d.span(), "Unused map: " + d.map(), "");
            }
        }
        for (MapSymbol map : globals.maps().values()) {
            if (map.value instanceof Int i && i.either()) {
                map.value = new Int(i.sizeBytes(), i.signed());
            }
        }
        return globals.maps();
    }

    private static void declare(Script script, Globals globals, Diagnostics diagnostics) {
        for (Script.Item item : script.items()) {
            if (item instanceof Script.MapDeclaration d) {
                MapSymbol map = globals.map(d.map());
                map.kind = d.type();
                map.entries = d.entries();
                if (!KINDS.contains(d.type())) {
                    diagnostics.error(
                            d.span(),
                            "Invalid bpf map type: " + d.type(),
                            "one of " + String.join(", ", KINDS));
                }
            }
        }
    }

    /** Maps that only ever change by themselves ({@code @++}) hold int64. */
    private static boolean settle(Globals globals) {
        boolean settled = false;
        for (MapSymbol map : globals.maps().values()) {
            if (map.value == null) {
                map.value = Int.I8;
                map.undefined = map.keyed == null;
                settled = true;
            }
            if (map.keyed == null) {
                map.keyed = false;
                settled = true;
            }
        }
        return settled;
    }

    /** Whether a value of a type can be read as a number. */
    public static boolean isNumber(Type type) {
        return OperatorTypes.isNumber(type);
    }
}
