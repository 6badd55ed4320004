package sonde.lang.declare;

import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.declare.CExpression.CValue;
import sonde.lang.declare.CToken.Kind;
import sonde.lang.declare.MacroExpansion.CMacro;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceSpan;
import sonde.lang.source.SourceText;
import sonde.lang.type.ValueType;

/**
 * What the C part of a script declares. Structures lie as gcc lays them out for x86-64. What they
 * refer to may come from the kernel, unless the script defines a type that the kernel has too: then
 * it has to define all that it has members of.
 */
public final class CDeclarations {
    /** Words that the macros of a script may make. */
    private static final int MOST_MADE = 500_000;

    private final CScope scope;
    private final MacroExpansion macros;
    private final SourceSpan start;
    private final Map<String, Optional<CValue>> values = new HashMap<>();

    private CDeclarations(CScope scope, MacroExpansion macros, SourceSpan start) {
        this.scope = scope;
        this.macros = macros;
        this.start = start;
    }

    /** As {@link #parse(SourceText, List, IncludeFolders, TypeSource, CompilerDiagnostics)}. */
    public static CDeclarations parse(
            SourceText source,
            List<SourceSpan> definitions,
            TypeSource kernel,
            CompilerDiagnostics diagnostics) {
        return parse(source, definitions, IncludeFolders.NONE, kernel, diagnostics);
    }

    /**
     * Reads definitions. What cannot be read is said and left out.
     *
     * @param source what the definitions are parts of
     * @param definitions lines of the preprocessor, definitions of types, as they stand
     * @param kernel what else types and constants come from
     */
    public static CDeclarations parse(
            SourceText source,
            List<SourceSpan> definitions,
            IncludeFolders includes,
            TypeSource kernel,
            CompilerDiagnostics diagnostics) {
        CErrors errors = new CErrors(diagnostics, source);
        MacroExpansion macros = new MacroExpansion(MOST_MADE);
        CScope scope = new CScope(kernel);
        SourceSpan start = new SourceSpan(source, 0, 0);
        CDeclarations made = new CDeclarations(scope, macros, start);
        if (definitions.isEmpty() && includes.first().isEmpty()) {
            return made;
        }
        CToken place = new CToken(Kind.END, "", true, false, start, false);
        PredefinedMacros.define(macros, kernel.isThere(), place);
        Preprocessor preprocessor = new Preprocessor(macros, includes, kernel, errors);
        for (String header : includes.first()) {
            preprocessor.header(header, place);
        }
        for (SourceSpan definition : definitions) {
            preprocessor.script(definition);
        }
        CCursor cursor = new CCursor(preprocessor.end(), place);
        new CParser(scope, errors, cursor).all();
        return made;
    }

    /** A type that is declared here; null for none of that name. */
    public @Nullable ValueType type(TypeSyntax.Kind kind, String name) {
        CDeclaredType type =
                kind == TypeSyntax.Kind.PLAIN ? scope.ownTypedef(name) : scope.tag(kind, name);
        return type == null ? null : scope.type(type);
    }

    /**
     * The value of a macro that stands for an integer, or of a constant of an enumeration; null for
     * anything else.
     */
    public @Nullable Long constant(String name) {
        Long own = scope.enumerator(name);
        if (own != null) {
            return own;
        }
        Optional<CValue> value = values.get(name);
        if (value == null) {
            value = evaluate(name);
            values.put(name, value);
        }
        return value.map(CValue::bits).orElse(null);
    }

    /** The enumeration that a constant is of; null for none. */
    public ValueType.@Nullable EnumType enumerationOf(String constant) {
        return scope.enumOf(constant);
    }

    private Optional<CValue> evaluate(String name) {
        List<CToken> words = expanded(name);
        if (words == null || words.isEmpty()) {
            return Optional.empty();
        }
        CCursor cursor = new CCursor(words, words.getFirst());
        CErrors silent = new CErrors(new CompilerDiagnostics(), start.source());
        try {
            CValue value = CExpression.read(cursor, new CParser(scope, silent, cursor));
            return cursor.isEnd() ? Optional.of(value) : Optional.empty();
        } catch (CSyntaxException e) {
            return Optional.empty();
        }
    }

    private @Nullable List<CToken> expanded(String name) {
        CMacro macro = macros.find(name);
        if (macro == null || macro.parameters() != null) {
            return null;
        }
        // As if it stood in the script, so that it does not expand itself.
        CToken place = new CToken(Kind.WORD, name, false, false, start, false);
        return macros.expand(List.of(place));
    }

    /** The bytes of a macro that stands for a string, a character each; null for anything else. */
    public @Nullable String text(String name) {
        List<CToken> words = expanded(name);
        if (words == null || words.isEmpty()) {
            return null;
        }
        StringBuilder out = new StringBuilder();
        for (CToken word : words) {
            if (word.kind() != Kind.STRING) {
                return null;
            }
            out.append(new String(CNumbers.content(word.text()), StandardCharsets.ISO_8859_1));
        }
        return out.toString();
    }

    /** What a macro without parameters stands for, macros in it expanded; null for none. */
    public @Nullable String expansion(String name) {
        List<CToken> words = expanded(name);
        return words == null ? null : MacroExpansion.text(words);
    }

    /** Macros with a value and constants, headers' too, in the order of their definition. */
    public Collection<String> names() {
        Set<String> names = new LinkedHashSet<>();
        for (CMacro macro : macros.all()) {
            if (!macro.builtIn() && macro.parameters() == null && !macro.body().isEmpty()) {
                names.add(macro.name());
            }
        }
        names.addAll(scope.enumerators());
        return names;
    }
}
