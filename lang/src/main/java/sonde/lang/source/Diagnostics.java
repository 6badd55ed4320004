package sonde.lang.source;

import java.util.ArrayList;
import java.util.List;
import sonde.lang.source.Diagnostic.Severity;

/** What the passes of a compiler say, in the order in which they say it. */
public final class Diagnostics {
    /** More errors than these help nobody. */
    private static final int MAX_ERRORS = 20;

    private final List<Diagnostic> all = new ArrayList<>();
    private int errors;

    /** Nothing said yet. */
    public Diagnostics() {}

    /** Says why no program can be made. */
    public void error(Span span, String message, String hint) {
        add(new Diagnostic(Severity.ERROR, span, message, hint));
    }

    /** Says why no program can be made. */
    public void error(Span span, String message) {
        error(span, message, "");
    }

    /** Says why no program can be made, with the message on a line of its own. */
    public void error(Span span, String message, String hint, Diagnostic.Front front) {
        add(new Diagnostic(Severity.ERROR, span, message, hint, front));
    }

    /** Says what may not be meant. */
    public void warning(Span span, String message, String hint) {
        add(new Diagnostic(Severity.WARNING, span, message, hint));
    }

    private void add(Diagnostic diagnostic) {
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
    public List<Diagnostic> all() {
        return List.copyOf(all);
    }
}
