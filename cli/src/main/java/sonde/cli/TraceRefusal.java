package sonde.cli;

import org.jspecify.annotations.Nullable;
import sonde.bpf.VerifierException;
import sonde.lang.bpftrace.run.LoadException;
import sonde.lang.bpftrace.run.PreparedProgram;
import sonde.lang.source.Diagnostic;
import sonde.lang.source.Span;

/** What to say of a program that the kernel did not take. */
final class TraceRefusal {
    private TraceRefusal() {}

    static String text(LoadException e, boolean whole) {
        PreparedProgram program = e.program();
        StringBuilder out = new StringBuilder(400);
        if (e.why() instanceof VerifierException verifier) {
            Span span = place(program, verifier);
            String message =
                    "the kernel's verifier refused this for "
                            + program.group().first().name()
                            + ": "
                            + verifier.getMessage();
            out.append(
                    span == null
                            ? "ERROR: " + message
                            : new Diagnostic(Diagnostic.Severity.ERROR, span, message, "")
                                    .render());
            if (whole) {
                out.append('\n').append(verifier.log());
            }
        } else {
            out.append("ERROR: Error loading BPF program for ")
                    .append(program.group().first().name())
                    .append(": ")
                    .append(e.getMessage());
        }
        return out.toString();
    }

    private static @Nullable Span place(PreparedProgram program, VerifierException e) {
        return e.explanation().slot() < 0 ? null : program.spanAt(e.explanation().slot());
    }
}
