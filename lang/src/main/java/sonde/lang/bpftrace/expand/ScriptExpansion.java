package sonde.lang.bpftrace.expand;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.bpftrace.syntax.Script.ScriptItem;
import sonde.lang.bpftrace.syntax.Script.ScriptMacro;
import sonde.lang.bpftrace.syntax.ScriptParser;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceSpan;
import sonde.lang.source.SourceText;

/**
 * From what stands in a script to what it means: imported files merged, macros put where they are
 * called, literals put for parameters and options.
 *
 * <p>A macro's own variables are renamed in each place: {@code $x} is {@code "$x·1"} in the first,
 * which no script can say; messages show {@link #shown}. Nodes of a macro's body keep their place
 * there, those of the library's macros have the place of the call. A call becomes a {@link
 * Expression.BlockExpression} with the place of the call.
 */
public final class ScriptExpansion {
    private static final String LIBRARY = "stdlib.bt";

    private ScriptExpansion() {}

    /**
     * A call of a macro that was expanded.
     *
     * @param call where, within another macro's body if that is where the call stands
     */
    public record MacroUse(ScriptMacro macro, SourceSpan call) {}

    /**
     * A script without imports, macros, parameters and options.
     *
     * @param options what it asks for, in the order of the text
     * @param late names of those that are still asked for, by calls of {@code getopt}
     * @param uses of macros, in the order of expansion
     * @param code functions in C that are imported
     */
    public record ExpandedScript(
            Script script,
            List<ScriptOption> options,
            Set<String> late,
            List<MacroUse> uses,
            List<CodeFile> code) {
        /** Keeps copies. */
        public ExpandedScript {
            options = List.copyOf(options);
            late = Set.copyOf(late);
            uses = List.copyOf(uses);
            code = List.copyOf(code);
        }

        /**
         * Where the macro is called that a place lies in, as a hint for a message about the place;
         * empty when it lies in none.
         */
        public String hint(SourceSpan place) {
            List<MacroUse> calls =
                    uses.stream().filter(use -> lies(place, use.macro().span())).toList();
            if (calls.isEmpty()) {
                return "";
            }
            String more = calls.size() > 1 ? " and " + (calls.size() - 1) + " more" : "";
            return "expanded from " + calls.getFirst().call().place() + more;
        }

        private static boolean lies(SourceSpan inner, SourceSpan outer) {
            return inner.source().equals(outer.source())
                    && outer.from() <= inner.from()
                    && inner.to() <= outer.to();
        }
    }

    /** The script without imports, macros, parameters and options. */
    public static Script expand(
            Script script,
            ScriptParameters parameters,
            ImportPath imports,
            CompilerDiagnostics diagnostics) {
        return expandWithUses(script, parameters, imports, diagnostics).script();
    }

    /**
     * As {@link #expand}, with what was found on the way. Options that were given wrongly are not
     * errors here ({@link ScriptParameters#problem} says them): their defaults are taken.
     */
    public static ExpandedScript expandWithUses(
            Script script,
            ScriptParameters parameters,
            ImportPath imports,
            CompilerDiagnostics diagnostics) {
        return expandWithUses(script, parameters, false, imports, diagnostics);
    }

    /**
     * As above.
     *
     * @param late whether options are given when the script is run: those that are numbers or
     *     truths, are not given now, and whose value the compiler does not need stay in the script
     */
    public static ExpandedScript expandWithUses(
            Script script,
            ScriptParameters parameters,
            boolean late,
            ImportPath imports,
            CompilerDiagnostics diagnostics) {
        ImportPass imported = new ImportPass(imports, diagnostics);
        Script merged = imported.merge(script);
        MacroTable own = new MacroTable();
        for (ScriptItem item : merged.items()) {
            if (item instanceof ScriptMacro macro) {
                own.add(macro, diagnostics);
            }
        }
        MacroPass macros = new MacroPass(own, library(), diagnostics);
        Script called = macros.expand(merged);
        if (!diagnostics.hasErrors()) {
            refuseTypes(called, diagnostics);
        }
        LateOptions options = late ? LateOptions.of(called, parameters) : LateOptions.NONE;
        ParameterPass pass = new ParameterPass(parameters, options, diagnostics);
        Script made = pass.script(called);
        Set<String> names = new HashSet<>();
        for (ScriptOption option : pass.options()) {
            if (options.has(option)) {
                names.add(option.name());
            }
        }
        return new ExpandedScript(made, pass.options(), names, macros.uses(), imported.code());
    }

    /** The name a variable has in the text: {@code $x} of {@code "$x·1"}. */
    public static String shown(String variable) {
        int mark = variable.indexOf(MacroPass.MARK);
        return mark < 0 ? variable : variable.substring(0, mark);
    }

    /** The text of the library of macros, which is always there. */
    static SourceText libraryText() {
        return new SourceText(LIBRARY, resource(LIBRARY));
    }

    /** The text of a file of the library. */
    static String resource(String name) {
        try (InputStream in =
                Objects.requireNonNull(ScriptExpansion.class.getResourceAsStream(name))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static MacroTable library() {
        CompilerDiagnostics own = new CompilerDiagnostics();
        MacroTable table = new MacroTable();
        for (ScriptItem item : ScriptParser.parse(libraryText(), own).items()) {
            table.add((ScriptMacro) item, own);
        }
        if (own.hasErrors()) {
            throw new IllegalStateException(own.all().getFirst().render());
        }
        return table;
    }

    /** Only macros take types. */
    private static void refuseTypes(Script script, CompilerDiagnostics diagnostics) {
        new TreeRewriter() {
            @Override
            protected Expression expression(Expression expression) {
                if (expression instanceof Expression.TypeArgument type) {
                    diagnostics.error(
                            type.span(),
                            "When used as a call argument, `typeof` builtin only valid for macro"
                                    + " calls that are expecting a type parameter");
                }
                return super.expression(expression);
            }
        }.script(script);
    }
}
