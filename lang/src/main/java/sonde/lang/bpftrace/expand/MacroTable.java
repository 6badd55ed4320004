package sonde.lang.bpftrace.expand;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.BareName;
import sonde.lang.bpftrace.syntax.Expression.MapName;
import sonde.lang.bpftrace.syntax.Expression.ScratchVariable;
import sonde.lang.bpftrace.syntax.Script.ScriptMacro;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceSpan;

/**
 * Macros by name. Several of one name are told apart by how many parameters they have and of what
 * kind; of two that fit the one defined first is taken, which therefore must be the stricter.
 */
final class MacroTable {
    private final Map<String, List<ScriptMacro>> byName = new HashMap<>();

    /** Adds one; says why not, when it cannot be called or repeats another. */
    void add(ScriptMacro macro, CompilerDiagnostics diagnostics) {
        if (find(macro.name(), macro.parameters()) != null) {
            diagnostics.error(head(macro), "Redefinition of macro: " + macro.name());
            return;
        }
        Set<String> seen = new HashSet<>();
        for (Expression parameter : macro.parameters()) {
            String name = name(parameter);
            if (!seen.add(name)) {
                diagnostics.error(
                        parameter.span(),
                        sort(parameter) + " for macro argument has already been used: " + name);
                return;
            }
            if (parameter instanceof BareName && NativeNames.isReserved(name)) {
                diagnostics.error(
                        parameter.span(),
                        "syntax: builtin '" + name + "' can't be used as a macro argument");
                return;
            }
        }
        byName.computeIfAbsent(macro.name(), key -> new ArrayList<>()).add(macro);
    }

    private static String sort(Expression parameter) {
        return parameter instanceof ScratchVariable
                ? "Variable"
                : parameter instanceof MapName ? "Map" : "Ident";
    }

    static String name(Expression parameter) {
        return switch (parameter) {
            case ScratchVariable(var span, var name) -> name;
            case MapName(var span, var name) -> name;
            case BareName(var span, var name) -> name;
            default -> throw new AssertionError(parameter);
        };
    }

    /** {@code macro name}: what messages about a definition point at. */
    static SourceSpan head(ScriptMacro macro) {
        SourceSpan span = macro.span();
        int at = span.text().indexOf(macro.name(), "macro".length());
        return new SourceSpan(span.source(), span.from(), span.from() + at + macro.name().length());
    }

    /** The macro that these arguments fit; null for none. */
    @Nullable ScriptMacro find(String name, List<Expression> arguments) {
        for (ScriptMacro macro : byName.getOrDefault(name, List.of())) {
            if (distance(macro, arguments) == 0) {
                return macro;
            }
        }
        return null;
    }

    /** The macro of this name that fits best; null when there is none of the name. */
    @Nullable ScriptMacro closest(String name, List<Expression> arguments) {
        ScriptMacro best = null;
        for (ScriptMacro macro : byName.getOrDefault(name, List.of())) {
            if (best == null || distance(macro, arguments) < distance(best, arguments)) {
                best = macro;
            }
        }
        return best;
    }

    /** A wrong count is worse than any number of arguments of the wrong kind. */
    private static long distance(ScriptMacro macro, List<Expression> arguments) {
        List<Expression> parameters = macro.parameters();
        int common = Math.min(parameters.size(), arguments.size());
        long distance = Math.abs(parameters.size() - arguments.size()) * 100_000L;
        for (int i = 0; i < common; i++) {
            distance += fits(parameters.get(i), arguments.get(i)) ? 0 : 1;
        }
        return distance;
    }

    static boolean fits(Expression parameter, Expression argument) {
        return switch (parameter) {
            case ScratchVariable variable -> argument instanceof ScratchVariable;
            case MapName map -> argument instanceof MapName;
            default -> true;
        };
    }
}
