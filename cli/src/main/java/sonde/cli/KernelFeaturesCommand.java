package sonde.cli;

import sonde.tools.kernel.DebugFeatures;
import sonde.tools.kernel.KernelFiles;

/** {@code sonde kernel features}. */
final class KernelFeaturesCommand {
    static final String MODEL =
            """
            sonde kernel features [OPTIONS]

            List the kernel's debugging aids: sanitizers, lock checks, leak detector, debugger,
            fault injection, watchdogs and tracers. Each is on, off, built in, a module that is not
            loaded, absent, or unknown where neither a configuration nor a file tells.

            Options:
              --json          print JSON

            Examples:
              sudo sonde kernel features
            """;

    private KernelFeaturesCommand() {}

    static int run(CommandCall call) throws Exception {
        return ResultPrinter.onOut(DebugFeatures.examine(KernelFiles.HERE), call.json());
    }
}
