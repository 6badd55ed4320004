package sonde.tools.trace;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.lang.bpftrace.run.LoadException;
import sonde.lang.probes.AttachException;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceDiagnostic;
import sonde.lang.source.SourceSpan;

/** What to say of a tool that cannot run: nothing of its script, whose lines {@code -v} shows. */
final class ToolRefusal {
    private static final Pattern VALUE = Pattern.compile("(?:args\\.)?(arg[0-9]|retval|\\w{1,20})");
    private static final Pattern NOTHING =
            Pattern.compile("No matches for (\\S+) (\\S+)\\.|Probe has no valid attach points\\.");

    private ToolRefusal() {}

    /**
     * The first error; what follows is mostly of its making.
     *
     * @param probe that the user gave to the tool; empty where it takes none
     */
    static String text(String tool, String probe, CompilerDiagnostics diagnostics) {
        SourceDiagnostic first =
                diagnostics.all().stream()
                        .filter(one -> one.severity() == SourceDiagnostic.Severity.ERROR)
                        .findFirst()
                        .orElseThrow();
        String hint = first.hint();
        String message;
        Matcher nothing = NOTHING.matcher(first.message());
        if (probe.isEmpty()) {
            message = "this kernel lacks what it needs: " + first.message();
            hint = hint.isEmpty() ? "'sonde doctor' says what can be had here" : hint;
        } else if (nothing.matches()) {
            message = "there is no " + probe;
            hint =
                    hint.isEmpty()
                            ? "'sonde trace -l \"" + pattern(nothing) + "\"' lists those there are"
                            : hint;
            hint += probe.startsWith("u:") ? "\n       u: is a uprobe here; a marker is usdt:" : "";
        } else {
            String value = value(first.span());
            message = value.isEmpty() ? first.message() : probe + " has no " + value;
            hint = value.isEmpty() ? hint : "'sonde trace -lv \"" + probe + "\"' shows what it has";
        }
        return told(tool, message, hint);
    }

    /** The kernel takes a program, and does not run it there. */
    static String text(String tool, AttachException e) {
        String why = e.reason().isEmpty() ? "the kernel does not allow it" : e.reason();
        return told(tool, "cannot look at " + e.probe(), why);
    }

    /** The kernel does not take a program. */
    static String text(String tool, LoadException e) {
        return told(
                tool,
                "cannot look at " + e.program().group().first().name(),
                TraceRefusal.reason(e) + "; -v says more");
    }

    private static String told(String tool, String message, String hint) {
        return "sonde: " + tool + ": " + message + (hint.isEmpty() ? "" : "\n       " + hint);
    }

    /** {@code ret} of {@code args.ret}: the value that a script wants of the probe. */
    private static String value(SourceSpan span) {
        Matcher value = VALUE.matcher(span.source().text().substring(span.from(), span.to()));
        return value.matches() ? value.group(1) : "";
    }

    /** What is like a probe that there is not: all of its place. */
    private static String pattern(Matcher nothing) {
        String target = nothing.group(2);
        return target == null
                ? "tracepoint:*"
                : nothing.group(1) + ":" + target.substring(0, target.lastIndexOf(':') + 1) + "*";
    }
}
