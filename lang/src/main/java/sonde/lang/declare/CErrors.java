package sonde.lang.declare;

import sonde.lang.source.Diagnostic;
import sonde.lang.source.Diagnostics;
import sonde.lang.source.SourceText;
import sonde.lang.source.Span;

/**
 * Says what is wrong with C: that of a script, as warnings that of its own headers, which may have
 * more than a script needs, not that of the system's.
 */
final class CErrors {
    private final Diagnostics diagnostics;

    private final SourceText script;

    CErrors(Diagnostics diagnostics, SourceText script) {
        this.diagnostics = diagnostics;
        this.script = script;
    }

    void error(CSyntaxException e) {
        error(e.place(), e.text());
    }

    void error(CToken place, String message) {
        if (!place.header()) {
            error(place.origin(), "C error: " + message, "");
        } else if (!place.origin().source().equals(script)) {
            diagnostics.warning(place.origin(), "C error: " + message, "");
        }
    }

    void error(Span place, String message, String hint) {
        diagnostics.error(place, message, hint);
    }

    /** Says of the script that a file is not there. */
    void missing(Span place, String message, String hint) {
        diagnostics.error(place, message, hint, Diagnostic.Front.NOTHING);
    }

    boolean isFull() {
        return diagnostics.isFull();
    }
}
