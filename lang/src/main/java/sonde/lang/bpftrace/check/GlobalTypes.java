package sonde.lang.bpftrace.check;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceSpan;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AggregateType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.TextType;

/** What all clauses of a script share while types are found. */
final class GlobalTypes {
    private final Map<String, MapSymbol> maps = new LinkedHashMap<>();
    private final TypeEnvironment environment;
    private final CompilerDiagnostics diagnostics;
    private boolean changed;
    private boolean reporting;

    GlobalTypes(TypeEnvironment environment, CompilerDiagnostics diagnostics) {
        this.environment = environment;
        this.diagnostics = diagnostics;
    }

    TypeEnvironment environment() {
        return environment;
    }

    Map<String, MapSymbol> maps() {
        return maps;
    }

    MapSymbol map(String name) {
        return maps.computeIfAbsent(name, MapSymbol::new);
    }

    /** Whether a map has a type; says so where it has none. */
    boolean isDefined(MapSymbol map, SourceSpan span) {
        if (!map.undefined) {
            return true;
        }
        error(span, "Undefined map: " + map.name());
        return false;
    }

    /** Whether nothing was found wrong yet. */
    boolean isSound() {
        return !diagnostics.hasErrors();
    }

    /** Begins another round. */
    void begin(boolean report) {
        changed = false;
        reporting = report;
    }

    boolean hasChanged() {
        return changed;
    }

    boolean isReporting() {
        return reporting;
    }

    void change() {
        changed = true;
    }

    /** Says what does not fit, once types are known; null for the type of what is wrong. */
    @Nullable ValueType error(SourceSpan span, String message) {
        return error(span, message, "");
    }

    @Nullable ValueType error(SourceSpan span, String message, String hint) {
        if (reporting) {
            diagnostics.error(span, message, hint);
        }
        return null;
    }

    void warning(SourceSpan span, String message, String hint) {
        if (reporting) {
            diagnostics.warning(span, message, hint);
        }
    }

    /** A value goes into a map. */
    void store(MapSymbol map, ValueType type, SourceSpan span) {
        ValueType known = map.value;
        map.plain |= !(type instanceof AggregateType);
        ValueType promoted =
                known instanceof AggregateType && !known.getClass().equals(type.getClass())
                        ? null
                        : known == null && type instanceof AggregateType
                                ? type
                                : TypePromotion.of(known, type);
        if (promoted == null) {
            mismatch(map, type, span);
        } else if (!promoted.equals(known)) {
            map.value = promoted;
            changed = true;
        }
    }

    void mismatch(MapSymbol map, ValueType type, SourceSpan span) {
        error(
                span,
                "Type mismatch for "
                        + map.name()
                        + ": trying to assign value of type '"
                        + type
                        + "' when map already has a type '"
                        + map.value
                        + "'");
    }

    /** A key is used for a map. */
    void key(MapSymbol map, ValueType type, SourceSpan span) {
        ValueType known = map.key;
        ValueType promoted = TypePromotion.of(known, type);
        if (promoted == null) {
            error(
                    span,
                    "Argument mismatch for "
                            + map.name()
                            + ": trying to access with arguments: '"
                            + type
                            + "' when map expects arguments: '"
                            + known
                            + "'");
        } else if (!promoted.equals(known)) {
            map.key = promoted;
            changed = true;
        }
    }

    /** Whether a script may read a map: not one whose keys are known when they are printed. */
    boolean isRead(MapSymbol map, SourceSpan span) {
        ValueType key = map.key;
        if (key == null || !key.isCopied()) {
            return true;
        }
        error(
                span,
                map.name()
                        + " has dw_ustack in its keys, which is followed by the tracer: the map can"
                        + " be assigned to, printed, cleared",
                "count(), sum(n) and the like take the place of ++ and +=");
        return false;
    }

    /** A map is used with keys, or without. */
    boolean shape(MapSymbol map, boolean keyed, SourceSpan span) {
        Boolean known = map.keyed;
        if (known == null) {
            map.keyed = keyed;
            changed = true;
        } else if (known != keyed) {
            error(
                    span,
                    keyed
                            ? map.name()
                                    + " used as a map with an explicit key (non-scalar map),"
                                    + " previously used without an explicit key (scalar map)"
                            : map.name()
                                    + " used as a map without an explicit key (scalar map),"
                                    + " previously used with an explicit key (non-scalar map)");
            return false;
        }
        return true;
    }

    /** A value goes into a variable. */
    void store(VariableSymbol variable, ValueType type, SourceSpan span) {
        ValueType known = variable.type;
        if (variable.fixed && known != null) {
            if (!fits(type, known)) {
                mismatch(variable, type, known, span);
            }
            return;
        }
        ValueType promoted = TypePromotion.of(known, type);
        if (promoted == null) {
            mismatch(variable, type, known, span);
        } else if (!promoted.equals(known)) {
            variable.type = promoted;
            changed = true;
        }
    }

    void mismatch(VariableSymbol variable, ValueType type, SourceSpan span) {
        mismatch(variable, type, variable.type, span);
    }

    private void mismatch(
            VariableSymbol variable, ValueType type, @Nullable ValueType known, SourceSpan span) {
        error(
                span,
                "Type mismatch for "
                        + variable.name()
                        + ": trying to assign value of type '"
                        + type
                        + "' when variable already has a type '"
                        + known
                        + "'");
    }

    private static boolean fits(ValueType type, ValueType into) {
        if (type instanceof IntType a && into instanceof IntType b) {
            return !a.either() || a.sizeBytes() <= b.sizeBytes() || b.sizeBytes() == 8;
        }
        if (type instanceof TextType a && into instanceof TextType b) {
            return a.sizeBytes() <= b.sizeBytes();
        }
        return TypePromotion.of(into, type) != null;
    }
}
