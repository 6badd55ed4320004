package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Result;
import sonde.probe.dynamic.NamedProbes;
import sonde.probe.dynamic.NamedProbes.ListedProbe;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.ExecException;
import sonde.probe.launch.InheritedState;
import sonde.probe.launch.ReadyDescriptor;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;
import sonde.tools.probe.NamedProbeRecipe;
import sonde.tools.record.RecordArguments;
import sonde.tools.record.RecordOrder;
import sonde.tools.record.RecordOutcome;
import sonde.tools.record.RecordRecipe;
import sonde.tools.record.ReportHandover;
import sonde.tools.report.section.ReportSections;

/** {@code sonde record}. */
final class RecordCommand {
    private final CommandCall call;
    private final GivenOptions given;
    private final RecordArguments arguments;

    private RecordCommand(CommandCall call) {
        this.call = call;
        this.given = call.given();
        this.arguments = new RecordArguments(given);
    }

    static int run(CommandCall call) throws Exception {
        return new RecordCommand(call).run();
    }

    private int run() throws Exception {
        InheritedState origin = InheritedState.capture();
        List<String> command = arguments.command();
        RecordOrder order =
                new RecordOrder(
                        arguments.spec(),
                        Main.VERSION,
                        origin,
                        command.isEmpty() ? null : CommandWords.lastArguments(command.size()),
                        arguments.pids(),
                        given.text("--user"),
                        given.text("--output"),
                        arguments.jvmMaps(),
                        given.has("--live")
                                ? events -> ResultPrinter.onOut(events, call.json())
                                : null,
                        ready(origin));
        if (given.has("--plan")) {
            return ResultPrinter.onOut(RecordRecipe.plan(order), call.json());
        }
        return record(order);
    }

    private @Nullable ReadyDescriptor ready(InheritedState origin) {
        OptionalLong fd = given.number("--ready-fd");
        if (fd.isEmpty() || given.has("--plan")) {
            return null;
        }
        try {
            return ReadyDescriptor.of((int) fd.getAsLong(), origin);
        } catch (IllegalArgumentException e) {
            throw new OptionException("--ready-fd " + fd.getAsLong() + ": " + e.getMessage(), e);
        }
    }

    /** Named probes of a file that was built anew record nothing of it. */
    private void sayChanged() {
        try {
            for (ListedProbe one : NamedProbes.open().changed(given.texts("--event"))) {
                call.say(one.event() + ": " + NamedProbeRecipe.changed(one));
            }
        } catch (IOException e) {
            // Whether probes can be recorded at all is said by the plan.
            return;
        }
    }

    private int record(RecordOrder order) throws Exception {
        if (given.has("--event")) {
            sayChanged();
        }
        ProgressLine line = new ProgressLine(order.command() != null);
        RecordOutcome outcome;
        try {
            boolean watched = line.isVisible() && !given.has("--live");
            outcome = new RecordRecipe(order, watched ? line : null).run();
        } catch (ExecException e) {
            call.say(String.valueOf(e.getMessage()));
            return e.exitCode();
        } finally {
            line.clear();
        }
        try {
            return summary(order, outcome);
        } finally {
            call.say(outcome.removed().get());
        }
    }

    private int summary(RecordOrder order, RecordOutcome outcome) throws Exception {
        boolean failed = !outcome.failure().isEmpty();
        if (failed) {
            call.say(outcome.failure());
        }
        sayOtherName(outcome.bundle());
        if (given.has("--print-path")) {
            call.out().println(outcome.bundle());
            call.out().flush();
        }
        int status = failed && outcome.exitCode() == 0 ? ExitCode.IMPOSSIBLE : outcome.exitCode();
        if (given.has("--no-summary") || given.has("--live") && call.json()) {
            call.say(outcome.meta().notes());
            sayNext(outcome.bundle(), call.err());
            return status;
        }
        ReportHandover handover = new ReportHandover(outcome.bundle(), status);
        if (handover.isWanted()) {
            call.say(outcome.removed().get()); // no thread outlives what follows
            handover.become(order.origin(), call.json());
        }
        return summary(outcome.bundle(), status, call);
    }

    /** Prints the summary of a recording; one that fails does not hide how the command ended. */
    static int summary(Path bundle, int status, CommandCall call) {
        try {
            Result summary = ReportSections.summary(bundle);
            if (call.json()) {
                ResultPrinter.onOut(summary, true);
            } else {
                ResultPrinter.onErr(summary);
                sayNext(bundle, call.err());
            }
            return status;
        } catch (IOException | RuntimeException e) {
            int failed = FailureMessages.execution(e, "report", false, call.err());
            return status == ExitCode.DONE ? failed : status;
        }
    }

    private static void sayNext(Path bundle, PrintWriter err) {
        String called = System.getenv().getOrDefault("SONDE_CALLED", "sonde");
        String name = bundle.toString();
        String word = name.matches("[\\w./+-]+") ? name : "'" + name.replace("'", "'\\''") + "'";
        err.println("\nrecorded into " + bundle + "; next:");
        err.println("  " + called + " report " + word + " --threads --oncpu --offcpu");
        err.println("  " + called + " report " + word + " --html report.html");
    }

    /** An existing recording is kept, and the new one has a number behind the name asked for. */
    private void sayOtherName(Path bundle) {
        String asked = given.text("--output", "").replaceFirst("/+$", "");
        String suffix = arguments.isTraceDat() ? ".dat" : ".sonde";
        String name = asked.endsWith(suffix) ? asked : asked + suffix;
        if (!asked.isEmpty() && !Path.of(name).getFileName().equals(bundle.getFileName())) {
            call.say(name + " exists; this recording is " + bundle);
        }
    }
}
