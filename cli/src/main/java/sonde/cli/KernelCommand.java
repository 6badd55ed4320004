package sonde.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import sonde.tools.option.OptionException;
import sonde.view.TextEscape;

/** {@code sonde kernel}. */
final class KernelCommand {
    static final String MODEL =
            """
            sonde kernel COMMAND [OPTIONS]

            Examine and use the kernel's own switches for debugging.

            Arguments:
              [COMMAND...]

            Examples:
              sonde kernel check                       would a crash leave a dump and a log?
              sonde kernel features                    sanitizers, lockdep, tracers: built, on, off
              sonde kernel dyndbg list module xhci_hcd
              sonde kernel dyndbg on module xhci_hcd --for 10s
              sonde kernel sysrq w                     stacks of tasks that hang
              sonde kernel kmemleak scan
            """;

    static final List<String> COMMANDS =
            List.of("check", "features", "dyndbg", "sysrq", "kmemleak");

    /** Other names that people use. */
    private static final Map<String, String> ALIASES =
            Map.of("leaks", "kmemleak", "log-check", "check", "dynamic_debug", "dyndbg");

    private KernelCommand() {}

    /** The words, with the usual name of the command. */
    static List<String> renamed(List<String> words) {
        List<String> renamed = new ArrayList<>(words);
        if (words.size() > 1) {
            renamed.set(1, ALIASES.getOrDefault(words.get(1), words.get(1)));
        }
        return renamed;
    }

    /** Only reached where no known command was named. */
    static int run(CommandCall call) {
        List<String> words = call.given().words();
        throw new OptionException(
                words.isEmpty()
                        ? "one of these is missing: " + String.join(", ", COMMANDS)
                        : "no command is called '" + TextEscape.line(words.getFirst()) + "'");
    }
}
