package sonde.lang.bpftrace.check;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.bpftrace.syntax.Script.ScriptItem;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.type.ValueType.IntType;

/** The pass that finds all types and says what does not fit. */
public final class TypeCheck {
    private static final List<String> KINDS =
            List.of("hash", "lruhash", "percpuhash", "percpulruhash");
    private static final int MOST_ROUNDS = 50;

    private TypeCheck() {}

    /**
     * Finds the types of all clauses, which share their maps.
     *
     * @return the maps by name, in the order in which the script names them
     */
    public static Map<String, MapSymbol> of(
            Script script,
            List<ScriptClause> clauses,
            TypeEnvironment environment,
            CompilerDiagnostics diagnostics) {
        GlobalTypes globals = new GlobalTypes(environment, diagnostics);
        declare(script, globals, diagnostics);
        List<ClauseTyper> typers = new ArrayList<>();
        for (ScriptClause clause : clauses) {
            typers.add(new ClauseTyper(globals, clause));
        }
        Set<String> unused = new HashSet<>();
        for (int round = 0; round < MOST_ROUNDS; round++) {
            globals.begin(false);
            typers.forEach(ClauseTyper::run);
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
        typers.forEach(ClauseTyper::run);
        for (ScriptItem item : script.items()) {
            if (item instanceof Script.MapDeclaration d && unused.contains(d.map())) {
                diagnostics.warning(d.span(), "Unused map: " + d.map(), "");
            }
        }
        for (MapSymbol map : globals.maps().values()) {
            if (map.value instanceof IntType i && i.either()) {
                map.value = new IntType(i.sizeBytes(), i.signed());
            }
        }
        return globals.maps();
    }

    private static void declare(
            Script script, GlobalTypes globals, CompilerDiagnostics diagnostics) {
        for (ScriptItem item : script.items()) {
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
    private static boolean settle(GlobalTypes globals) {
        boolean settled = false;
        for (MapSymbol map : globals.maps().values()) {
            if (map.value == null) {
                map.value = IntType.I8;
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
}
