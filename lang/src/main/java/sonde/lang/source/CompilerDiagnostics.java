package sonde.lang.source;

import java.util.ArrayList;
import java.util.List;
import sonde.lang.source.SourceDiagnostic.Severity;

/** What the passes of a compiler say, in the order in which they say it. */
public final class CompilerDiagnostics {
    /** More errors than these help nobody. */
    private static final int MAX_ERRORS = 20;

    private final List<SourceDiagnostic> all = new ArrayList<>();
    private int errors;

    /** Nothing said yet. */
    public CompilerDiagnostics() {}

    /** Says why no program can be made. */
    public void error(SourceSpan span, String message, String hint) {
        add(new SourceDiagnostic(Severity.ERROR, span, message, hint));
    }

    /** Says why no program can be made. */
    public void error(SourceSpan span, String message) {
        error(span, message, "");
    }

    /** Says why no program can be made, with the message on a line of its own. */
    public void error(SourceSpan span, String message, String hint, SourceDiagnostic.Front front) {
        add(new SourceDiagnostic(Severity.ERROR, span, message, hint, front));
    }

    /** Says what may not be meant. */
    public void warning(SourceSpan span, String message, String hint) {
        add(new SourceDiagnostic(Severity.WARNING, span, message, hint));
    }

    private void add(SourceDiagnostic diagnostic) {
        boolean isError = diagnostic.severity() == Severity.ERROR;
        errors += isError ? 1 : 0;
        if ((!isError || errors <= MAX_ERRORS) && !all.contains(diagnostic)) {
            all.add(diagnostic);
        }
    }

    /** Whether no program can be made. */
    public boolean hasErrors() {
        return errors > 0;
    }

    /** Whether so many errors were found that looking for more is of no use. */
    public boolean isFull() {
        return errors >= MAX_ERRORS;
    }

    /** All, in order. */
    public List<SourceDiagnostic> all() {
        return List.copyOf(all);
    }
}
