package sonde.lang.probes;

import java.util.List;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceDiagnostic;
import sonde.lang.source.SourceSpan;
import sonde.lang.source.SourceText;

/** Attach points for tests. */
final class Points {
    private Points() {}

    static SourceSpan span(String text) {
        return new SourceSpan(new SourceText("stdin", text + " { 1 }"), 0, text.length());
    }

    static AttachPoint parse(String text) {
        return parse(text, ParseSettings.PLAIN);
    }

    static AttachPoint parse(String text, ParseSettings settings) {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        AttachPoint point = AttachPointParser.parse(span(text), text, settings, diagnostics);
        if (point == null || diagnostics.hasErrors()) {
            throw new AssertionError(text + ": " + diagnostics.all());
        }
        return point;
    }

    static String error(String text, ParseSettings settings) {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        AttachPoint point = AttachPointParser.parse(span(text), text, settings, diagnostics);
        if (point != null || diagnostics.all().size() != 1) {
            throw new AssertionError(text + ": " + point + " " + diagnostics.all());
        }
        return diagnostics.all().getFirst().message();
    }

    static List<String> messages(CompilerDiagnostics diagnostics) {
        return diagnostics.all().stream().map(Points::message).toList();
    }

    private static String message(SourceDiagnostic diagnostic) {
        return diagnostic.severity() + ": " + diagnostic.message();
    }
}
