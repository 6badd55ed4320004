package sonde.tools.trace;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import sonde.bpf.VerifierException;
import sonde.bpf.verifier.Explanation;
import sonde.bpf.verifier.SourceLine;
import sonde.lang.bpftrace.run.LoadException;
import sonde.lang.bpftrace.run.PreparedProgram;
import sonde.lang.probes.AttachException;
import sonde.lang.probes.TrialAttach;
import sonde.lang.source.SourceDiagnostic;
import sonde.lang.source.SourceSpan;

/** What to say of a program that the kernel did not take. */
final class TraceRefusal {
    private static final Pattern FORBIDDEN = Pattern.compile("helper call is not allowed in probe");
    private static final Pattern CALL = Pattern.compile("call (bpf_\\w{1,60})#\\d");

    private static final int MOST_PARTS = 3;

    /** What helps in a script, where that is not what helps in C. */
    private static final Map<String, String> HINTS =
            Map.of(
                    "too-complex",
                    "of a range loop (for $i : 0..1000000) the verifier walks one turn, of while and"
                            + " unroll all of them");

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
            out.append(text(program, verifier));
            if (whole) {
                out.append('\n').append(verifier.log());
            }
        } else {
            out.append("ERROR: Error loading BPF program for ")
                    .append(program.group().first().name())
                    .append(": ")
                    .append(TrialAttach.loading(program.group().first(), e.why()));
        }
        return out.toString();
    }

    private static String text(PreparedProgram program, VerifierException verifier) {
        Explanation why = verifier.explanation();
        SourceSpan span = why.slot() < 0 ? null : program.spanAt(why.slot());
        String helper = forbiddenHelper(verifier.log());
        if (!helper.isEmpty()) {
            return at(span, why, "helper " + helper + " not allowed in probe", "");
        }
        String message =
                "the kernel's verifier refused this for "
                        + program.group().first().name()
                        + ": "
                        + why.cause();
        String hint = HINTS.getOrDefault(why.id(), "");
        StringBuilder out = new StringBuilder(at(span, why, message, hint));
        String origin = origin(program, why, span);
        if (!origin.isEmpty()) {
            out.append("\nthe value: ").append(origin);
        }
        if (!why.message().equals(why.cause())) {
            out.append("\nverifier: ").append(why.message().replaceFirst("\\.$", ""));
            out.append(why.slot() < 0 ? "" : ", at " + verifier.position());
        }
        return out.toString();
    }

    /** With its place in the script, or in C that it imports, where there is one. */
    private static String at(
            @Nullable SourceSpan span, Explanation why, String message, String hint) {
        if (span != null) {
            return new SourceDiagnostic(SourceDiagnostic.Severity.ERROR, span, message, hint)
                    .render();
        }
        SourceLine line = why.source();
        return line == null || line.place().isEmpty()
                ? "ERROR: " + message + (hint.isEmpty() ? "" : "\nHINT: " + hint)
                : line.place() + ": ERROR: " + message + "\n" + line.text().strip();
    }

    /** The parts of the script that the value in question went through, first to last. */
    private static String origin(
            PreparedProgram program, Explanation why, @Nullable SourceSpan refused) {
        return why.history().stream()
                .map(step -> step.slot() < 0 ? null : program.spanAt(step.slot()))
                .filter(span -> span != null && !span.equals(refused))
                .distinct()
                .limit(MOST_PARTS)
                .map(span -> span.text() + " (" + span.place() + ")")
                .collect(Collectors.joining(", then "))
                .replaceAll("\\p{Cntrl}+", " ");
    }

    /** Why, in a few words. */
    static String reason(LoadException e) {
        if (!(e.why() instanceof VerifierException verifier)) {
            return TrialAttach.loading(e.program().group().first(), e.why());
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
}
