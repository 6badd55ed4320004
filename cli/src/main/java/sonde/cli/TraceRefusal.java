package sonde.cli;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.bpf.VerifierException;
import sonde.bpf.verifier.SourceLine;
import sonde.lang.bpftrace.run.LoadException;
import sonde.lang.bpftrace.run.PreparedProgram;
import sonde.lang.probes.AttachException;
import sonde.lang.probes.Trial;
import sonde.lang.source.Diagnostic;
import sonde.lang.source.Span;

/** What to say of a program that the kernel did not take. */
final class TraceRefusal {
    private static final Pattern FORBIDDEN = Pattern.compile("helper call is not allowed in probe");
    private static final Pattern CALL = Pattern.compile("call (bpf_\\w{1,60})#\\d");

    private TraceRefusal() {}

    static String text(AttachException e) {
        return (e.reason().isEmpty() ? "" : "ERROR: " + e.reason() + "\n")
                + "ERROR: Unable to attach probe: "
                + e.probe()
                + ". If this is expected, set the 'missing_probes' config variable to 'warn'.";
    }

    static String text(LoadException e, boolean whole) {
        PreparedProgram program = e.program();
        StringBuilder out = new StringBuilder(400);
        if (e.why() instanceof VerifierException verifier) {
            Span span = place(program, verifier);
            String helper = forbiddenHelper(verifier.log());
            String message =
                    helper.isEmpty()
                            ? "the kernel's verifier refused this for "
                                    + program.group().first().name()
                                    + ": "
                                    + verifier.getMessage()
                            : "helper " + helper + " not allowed in probe";
            out.append(
                    span == null
                            ? ofFunctionInC(message, verifier)
                            : new Diagnostic(Diagnostic.Severity.ERROR, span, message, "")
                                    .render());
            if (whole) {
                out.append('\n').append(verifier.log());
            }
        } else {
            out.append("ERROR: Error loading BPF program for ")
                    .append(program.group().first().name())
                    .append(": ")
                    .append(Trial.loading(program.group().first(), e.why()));
        }
        return out.toString();
    }

    /** With the line of C that an instruction comes from, if it comes from one. */
    private static String ofFunctionInC(String message, VerifierException e) {
        SourceLine line = e.explanation().source();
        return line == null || line.place().isEmpty()
                ? "ERROR: " + message
                : line.place() + ": ERROR: " + message + "\n" + line.text().strip();
    }

    /** Why, in a few words. */
    static String reason(LoadException e) {
        if (!(e.why() instanceof VerifierException verifier)) {
            return Trial.loading(e.program().group().first(), e.why());
        }
        String helper = forbiddenHelper(verifier.log());
        return helper.isEmpty()
                ? "the kernel's verifier refused it: " + verifier.getMessage()
                : "the kernel does not let it call " + helper;
    }

    /** The helper that programs of this place may not call; empty when it is not about that. */
    private static String forbiddenHelper(String log) {
        Matcher refused = FORBIDDEN.matcher(log);
        if (!refused.find()) {
            return "";
        }
        String helper = "";
        Matcher call = CALL.matcher(log);
        while (call.find() && call.start() < refused.start()) {
            helper = call.group(1);
        }
        return helper;
    }

    private static @Nullable Span place(PreparedProgram program, VerifierException e) {
        return e.explanation().slot() < 0 ? null : program.spanAt(e.explanation().slot());
    }
}
