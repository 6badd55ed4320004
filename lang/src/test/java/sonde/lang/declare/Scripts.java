package sonde.lang.declare;

import java.util.List;
import sonde.lang.bpftrace.syntax.Parser;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.source.Diagnostic;
import sonde.lang.source.Diagnostics;
import sonde.lang.source.SourceText;
import sonde.lang.source.Span;

/** Definitions as scripts have them. */
final class Scripts {
    private Scripts() {}

    /** What was read and what was said. */
    record Result(Declarations declarations, List<Diagnostic> said) {}

    /** The definitions of a script, cut by the language's own parser. */
    static Result script(String text, TypeSource kernel) {
        SourceText source = new SourceText("test.bt", text + "\nbegin { }");
        Diagnostics diagnostics = new Diagnostics();
        Script script = Parser.parse(source, diagnostics);
        Declarations all = Declarations.parse(source, script.definitions(), kernel, diagnostics);
        return new Result(all, diagnostics.all());
    }

    /** C as one piece, which need not be what a script may have. */
    static Result plain(String text, TypeSource kernel) {
        SourceText source = new SourceText("test.c", text);
        Diagnostics diagnostics = new Diagnostics();
        List<Span> all = List.of(new Span(source, 0, text.length()));
        return new Result(Declarations.parse(source, all, kernel, diagnostics), diagnostics.all());
    }
}
