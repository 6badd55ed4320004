package sonde.cli;

import sonde.tools.kernel.KernelFiles;
import sonde.tools.kernel.SetupCheck;

/** {@code sonde kernel check}. */
final class KernelCheckCommand {
    static final String MODEL =
            """
            sonde kernel check [OPTIONS]

            Check whether a crash would leave a dump and a log, and whether the kernel's messages
            reach somebody. For each setting, the output has the value, its meaning, and the line
            that changes it. The command changes nothing.

            Options:
              --json          print JSON

            Examples:
              sudo sonde kernel check

            Exit status:
              0 there is no problem, 1 there are problems
            """;

    private KernelCheckCommand() {}

    static int run(CommandCall call) throws Exception {
        SetupCheck check = SetupCheck.of(KernelFiles.HERE);
        ResultPrinter.onOut(check.result(), call.json());
        return check.hasProblems() ? ExitCode.NEGATIVE : ExitCode.DONE;
    }
}
