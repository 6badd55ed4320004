package sonde.cli;

import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import sonde.probe.launch.InheritedState;
import sonde.tools.kernel.DynamicDebugRecipe;
import sonde.tools.kernel.DynamicDebugRecipe.PrintAnswer;
import sonde.tools.kernel.DynamicDebugRecipe.PrintRequest;
import sonde.tools.kernel.DynamicDebugRecipe.PrintRun;
import sonde.tools.kernel.DynamicDebugRecipe.PrintSpan;
import sonde.tools.option.OptionException;

/** {@code sonde kernel dyndbg}. */
final class KernelDyndbgCommand {
    static final String MODEL =
            """
            sonde kernel dyndbg list|on|off [OPTIONS] [SELECTION...]

            List the kernel's debug messages (pr_debug, dev_dbg), and switch them on and off. With
            --for or --while the messages are printed as they come, and switched back afterwards,
            also when sonde is interrupted or killed.

            Arguments:
              ACTION          list, on or off
              [SELECTION...]  file GLOB, module GLOB, func GLOB, format TEXT, line N-M: messages
                              that match all of them; a word alone is a module, function or file

            Options:
              --flags LETTERS
                              set or remove these flags: p print; before the message m module,
                              f function, s file, l line, t thread (default p)
              --for TIME      switch for this time only
              --while CMD     switch while this shell command runs, and return its exit status
              -n, --dry-run   print the queries for the kernel, and change nothing
              --json          print JSON

            Examples:
              sonde kernel dyndbg list module xhci_hcd
              sonde kernel dyndbg on file drivers/usb/core/hub.c --flags pmf
              sonde kernel dyndbg on func 'usb_*' --while 'lsusb -v'
              sonde kernel dyndbg off module '*'

            Exit status:
              0 done, 1 no message matches
            """;

    private KernelDyndbgCommand() {}

    static int run(CommandCall call) throws Exception {
        List<String> words = call.given().words();
        String action = words.getFirst();
        List<String> selection = words.subList(1, words.size());
        String flags = call.given().text("--flags", "p");
        OptionalLong nanos = call.given().nanos("--for");
        String command = call.given().text("--while");
        boolean dryRun = call.has("--dry-run");
        if (action.equals("list")) {
            return show(DynamicDebugRecipe.list(selection), call);
        }
        if (!action.equals("on") && !action.equals("off")) {
            throw new OptionException("'" + action + "' is not list, on or off");
        }
        if (selection.isEmpty()) {
            throw new OptionException("a selection is missing; module '*' means all messages");
        }
        PrintRequest request = new PrintRequest(selection, action.equals("on"), flags);
        if (dryRun || nanos.isEmpty() && command == null) {
            return show(DynamicDebugRecipe.set(request, dryRun), call);
        }
        return runFor(request, nanos, command, call);
    }

    private static int runFor(
            PrintRequest request, OptionalLong nanos, @Nullable String command, CommandCall call)
            throws Exception {
        InheritedState origin = command == null ? null : InheritedState.capture();
        PrintSpan span = new PrintSpan(nanos.orElse(Long.MAX_VALUE), command, origin);
        PrintRun run = new PrintRun(request, span);
        ResultPrinter.onOut(run.result(), call.json());
        return run.status();
    }

    private static int show(PrintAnswer answer, CommandCall call) throws Exception {
        ResultPrinter.onOut(answer.result(), call.json());
        return answer.found() ? ExitCode.DONE : ExitCode.NEGATIVE;
    }
}
