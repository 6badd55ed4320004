package sonde.lang.declare;

import java.util.List;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.bpftrace.syntax.ScriptParser;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceDiagnostic;
import sonde.lang.source.SourceSpan;
import sonde.lang.source.SourceText;

/** Definitions as scripts have them. */
final class Scripts {
    private Scripts() {}

    /** What was read and what was said. */
    record Result(CDeclarations declarations, List<SourceDiagnostic> said) {}

    /** The definitions of a script, cut by the language's own parser. */
    static Result script(String text, TypeSource kernel) {
        SourceText source = new SourceText("test.bt", text + "\nbegin { }");
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        Script script = ScriptParser.parse(source, diagnostics);
        CDeclarations all = CDeclarations.parse(source, script.definitions(), kernel, diagnostics);
        return new Result(all, diagnostics.all());
    }

    /** C as one piece, which need not be what a script may have. */
    static Result plain(String text, TypeSource kernel) {
        SourceText source = new SourceText("test.c", text);
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        List<SourceSpan> all = List.of(new SourceSpan(source, 0, text.length()));
        return new Result(CDeclarations.parse(source, all, kernel, diagnostics), diagnostics.all());
    }
}
