package sonde.cli;

import java.util.List;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.ExecException;
import sonde.probe.launch.InheritedState;
import sonde.tools.heap.HeapArguments;
import sonde.tools.heap.HeapViewArguments;

/** {@code sonde heap}. */
final class HeapCommand {
    static final String MODEL =
            """
            sonde heap [OPTIONS] [--] COMMAND [ARGS...]
            sonde heap [OPTIONS] -p PID
            sonde heap [OPTIONS] FILE

            Show what a program allocated, what made its peak, and what it did not free.

            Arguments:
              -- [COMMAND...]   a command that is started
              FILE            a file of heaptrack, also compressed
            """
                    + HeapArguments.MODEL
                    + HeapViewArguments.MODEL
                    + """
                      --json          print JSON

                    Examples:
                      sonde heap -- ./server
                      sonde heap heaptrack.make.1234.zst --leaked
                    """;

    private HeapCommand() {}

    static int run(CommandCall call) throws Exception {
        if (HeapViewArguments.namesFile(call.given())) {
            return ResultPrinter.onOut(HeapViewArguments.report(call.given()), call.json());
        }
        InheritedState origin = InheritedState.capture();
        List<String> words = call.given().words();
        CommandWords command =
                words.isEmpty() ? null : CommandWords.of(words.toArray(String[]::new));
        try {
            HeapArguments.Watched watched = HeapArguments.watch(call.given(), origin, command);
            ResultPrinter.onOut(
                    HeapViewArguments.report(watched.profile(), call.given()), call.json());
            return watched.status();
        } catch (ExecException e) {
            call.say(String.valueOf(e.getMessage()));
            return e.exitCode();
        }
    }
}
