package sonde.tools.trace;

import java.io.PrintWriter;
import java.util.Optional;
import sonde.lang.bpftrace.expand.ScriptParameters;
import sonde.lang.bpftrace.run.LoadException;
import sonde.lang.probes.AttachException;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceDiagnostic;
import sonde.probe.launch.ExecException;

/** Says why a script cannot run, in the words of its language or in those of a tool. */
final class TraceMessages {
    private final TraceRequest.MessageStyle style;
    private final boolean warnings;
    private final PrintWriter err;

    TraceMessages(TraceRequest request, PrintWriter err) {
        style = request.messages();
        warnings = request.options().warnings();
        this.err = err;
    }

    void say(String message) {
        err.println(message);
        err.flush();
    }

    /** Prints diagnostics; whether there are errors. */
    boolean say(CompilerDiagnostics diagnostics) {
        if (!style.showsScript() && diagnostics.hasErrors()) {
            say(ToolRefusal.text(style.tool(), style.toolProbe(), diagnostics));
            return true;
        }
        for (SourceDiagnostic diagnostic : diagnostics.all()) {
            if (diagnostic.severity() == SourceDiagnostic.Severity.ERROR || warnings) {
                err.println(diagnostic.render());
            }
        }
        err.flush();
        return diagnostics.hasErrors();
    }

    /** Prints what is wrong with the options that were given to a script; whether anything is. */
    boolean say(Optional<ScriptParameters.Problem> problem) {
        if (problem.isPresent()) {
            String message = problem.get().message();
            err.print(message.isEmpty() ? "" : "ERROR: " + message + "\n");
            err.print(problem.get().hint().isEmpty() ? "" : "HINT: " + problem.get().hint() + "\n");
            err.flush();
        }
        return problem.isPresent();
    }

    void refused(LoadException e) {
        say(
                style.showsScript()
                        ? TraceRefusal.text(e, style.verbose())
                        : ToolRefusal.text(style.tool(), e));
    }

    void refused(AttachException e) {
        say(style.isOfTool() ? ToolRefusal.text(style.tool(), e) : TraceRefusal.text(e));
    }

    void refused(ExecException e) {
        say((style.isOfTool() ? "sonde: " : "ERROR: ") + e.getMessage());
    }
}
