package sonde.lang.probes;

import java.util.List;
import sonde.lang.source.Diagnostic;
import sonde.lang.source.Diagnostics;
import sonde.lang.source.SourceText;
import sonde.lang.source.Span;

/** Attach points for tests. */
final class Points {
    private Points() {}

    static Span span(String text) {
        return new Span(new SourceText("stdin", text + " { 1 }"), 0, text.length());
    }

    static AttachPoint parse(String text) {
        return parse(text, ParseSettings.PLAIN);
    }

    static AttachPoint parse(String text, ParseSettings settings) {
        Diagnostics diagnostics = new Diagnostics();
        AttachPoint point = AttachPointParser.parse(span(text), text, settings, diagnostics);
        if (point == null || diagnostics.hasErrors()) {
            throw new AssertionError(text + ": " + diagnostics.all());
        }
        return point;
    }

    static String error(String text, ParseSettings settings) {
        Diagnostics diagnostics = new Diagnostics();
        AttachPoint point = AttachPointParser.parse(span(text), text, settings, diagnostics);
        if (point != null || diagnostics.all().size() != 1) {
            throw new AssertionError(text + ": " + point + " " + diagnostics.all());
        }
        return diagnostics.all().getFirst().message();
    }

    static List<String> messages(Diagnostics diagnostics) {
        return diagnostics.all().stream().map(Points::message).toList();
    }

    private static String message(Diagnostic diagnostic) {
        return diagnostic.severity() + ": " + diagnostic.message();
    }
}
