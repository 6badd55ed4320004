package sonde.cli;

import java.nio.file.Path;
import java.util.List;
import sonde.probe.launch.ExecException;
import sonde.probe.launch.InheritedState;
import sonde.tools.ftrace.FtraceArguments;
import sonde.tools.ftrace.FtraceRecipe;
import sonde.tools.ftrace.FtraceRecipe.FtraceAnswer;
import sonde.tools.ftrace.HistogramRecipe;
import sonde.tools.ftrace.LatencyRecipe;
import sonde.tools.option.OptionException;
import sonde.tools.record.RecordOrder;
import sonde.tools.record.RecordOutcome;
import sonde.tools.record.RecordRecipe;
import sonde.tools.report.section.ReportSections;

/** {@code sonde ftrace}. */
final class FtraceCommand {
    static final List<String> COMMANDS =
            List.of("function", "graph", "latency", "hist", "reset", "mark");

    private FtraceCommand() {}

    /** Only reached where no known command was named. */
    static int run(CommandCall call) {
        throw new OptionException("one of these is missing: " + String.join(", ", COMMANDS));
    }

    static int function(CommandCall call) throws Exception {
        return record("function", call);
    }

    static int graph(CommandCall call) throws Exception {
        return record("graph", call);
    }

    static int latency(CommandCall call) throws Exception {
        LatencyRecipe recipe = new LatencyRecipe(call.given());
        Path text = recipe.run(recipe.command(), InheritedState.capture());
        ResultPrinter.onOut(ReportSections.summary(text), call.json());
        call.say("the kernel's text is in " + text);
        return recipe.status();
    }

    static int hist(CommandCall call) throws Exception {
        HistogramRecipe recipe = new HistogramRecipe(call.given());
        ResultPrinter.onOut(recipe.run(recipe.command(), InheritedState.capture()), call.json());
        return recipe.status();
    }

    static int reset(CommandCall call) throws Exception {
        return show(FtraceRecipe.reset(call.has("--yes")), call);
    }

    static int mark(CommandCall call) throws Exception {
        return show(FtraceRecipe.mark(call.given().words()), call);
    }

    private static int show(FtraceAnswer answer, CommandCall call) throws Exception {
        ResultPrinter.onOut(answer.report(), call.json());
        return answer.isGood() ? ExitCode.DONE : ExitCode.NEGATIVE;
    }

    private static int record(String word, CommandCall call) throws Exception {
        FtraceArguments arguments = new FtraceArguments(word, call.given());
        try {
            RecordOrder order =
                    arguments.order(Main.VERSION, InheritedState.capture(), arguments.command());
            RecordOutcome outcome = new RecordRecipe(order, null).run();
            ResultPrinter.onOut(ReportSections.functions(outcome.bundle()), call.json());
            arguments.next(outcome.bundle()).forEach(call.err()::println);
            call.say(outcome.removed().get());
            return outcome.exitCode();
        } catch (ExecException e) {
            call.say(String.valueOf(e.getMessage()));
            return e.exitCode();
        }
    }
}
