package sonde.cli;

import sonde.probe.launch.InheritedState;
import sonde.tools.leaks.LeaksArguments;
import sonde.tools.leaks.LeaksRun;

/** {@code sonde leaks}. */
final class LeaksCommand {
    static final String MODEL = LeaksArguments.MODEL;

    private LeaksCommand() {}

    static int run(CommandCall call) throws Exception {
        InheritedState origin = InheritedState.capture();
        try (LeaksRun run = LeaksRun.of(call.given(), origin, call::say)) {
            ResultPrinter.onOut(run.result(), call.json());
            return run.status();
        }
    }
}
