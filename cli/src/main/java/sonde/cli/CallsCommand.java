package sonde.cli;

import java.util.Optional;
import sonde.cli.ResultPrinter.OutputForm;
import sonde.event.result.Table;
import sonde.probe.launch.ExecException;
import sonde.probe.launch.InheritedState;
import sonde.tools.calls.CallsArguments;
import sonde.tools.calls.CallsRun;
import sonde.tools.record.RunningTarget;
import sonde.tools.syscalls.CallOutput;

/** {@code sonde calls}: ltrace's lines, by probes in the functions. */
final class CallsCommand {
    static final String MODEL = CallsArguments.MODEL;

    private CallsCommand() {}

    static int run(CommandCall call) throws Exception {
        InheritedState origin = InheritedState.capture();
        for (int pid : call.given().numbers("--pid")) {
            RunningTarget.check(pid);
        }
        OutputForm form = call.json() ? OutputForm.JSON : OutputForm.TEXT;
        try (CallsRun run = CallsArguments.run(call.given(), origin);
                CallOutput out = CallsArguments.output(call.given())) {
            ResultPrinter.into(run.lines(), form, out == null ? null : out.stream());
            Optional<Table> table = run.table();
            if (table.isPresent()) {
                ResultPrinter.into(table.get(), form, out == null ? null : out.stream());
            }
            call.say(run.notes());
            return run.status();
        } catch (ExecException e) {
            call.say(String.valueOf(e.getMessage()));
            return e.exitCode();
        }
    }
}
