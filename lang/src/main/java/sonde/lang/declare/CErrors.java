package sonde.lang.declare;

import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceDiagnostic;
import sonde.lang.source.SourceSpan;
import sonde.lang.source.SourceText;

/**
 * Says what is wrong with C: that of a script, as warnings that of its own headers, which may have
 * more than a script needs, not that of the system's.
 */
final class CErrors {
    private final CompilerDiagnostics diagnostics;

    private final SourceText script;

    CErrors(CompilerDiagnostics diagnostics, SourceText script) {
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

    void error(SourceSpan place, String message, String hint) {
        diagnostics.error(place, message, hint);
    }

    /** Says of the script that a file is not there. */
    void missing(SourceSpan place, String message, String hint) {
        diagnostics.error(place, message, hint, SourceDiagnostic.Front.NOTHING);
    }

    boolean isFull() {
        return diagnostics.isFull();
    }
}
