package sonde.lang.declare;

import sonde.lang.source.Diagnostic;
import sonde.lang.source.Diagnostics;
import sonde.lang.source.Span;

/** Says what is wrong with C: that of a script, not that of headers. */
final class CErrors {
    private final Diagnostics diagnostics;

    CErrors(Diagnostics diagnostics) {
        this.diagnostics = diagnostics;
    }

    void error(CSyntaxException e) {
        error(e.place(), e.text());
    }

    void error(CToken place, String message) {
        if (!place.header()) {
            error(place.origin(), "C error: " + message, "");
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
