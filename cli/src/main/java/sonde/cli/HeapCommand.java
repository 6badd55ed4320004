package sonde.cli;

import java.util.List;
import sonde.event.heap.HeapStack;
import sonde.event.result.Report;
import sonde.event.result.TableBuilder;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.ExecException;
import sonde.probe.launch.InheritedState;
import sonde.tools.heap.HeapArguments;

/** {@code sonde heap}. */
final class HeapCommand {
    static final String MODEL =
            """
            sonde heap [OPTIONS] [--] COMMAND [ARGS...]
            sonde heap [OPTIONS] -p PID

            Show what a program allocated, what made its peak, and what it did not free.

            Arguments:
              -- [COMMAND...]   a command that is started
            """
                    + HeapArguments.MODEL
                    + """
                      --json          print JSON

                    Examples:
                      sonde heap -- ./server
                    """;

    private HeapCommand() {}

    static int run(CommandCall call) throws Exception {
        InheritedState origin = InheritedState.capture();
        List<String> words = call.given().words();
        try {
            HeapArguments.Watched watched =
                    HeapArguments.watch(
                            call.given(),
                            origin,
                            words.isEmpty() ? null : CommandWords.of(words.toArray(String[]::new)));
            ResultPrinter.onOut(
                    new Report(
                            "heap",
                            List.of(
                                    watched.profile().totals().toString(),
                                    watched.profile().faults().toString()),
                            watched.profile().notes(),
                            List.of(
                                    new TableBuilder<HeapStack>("stacks")
                                            .bytes("live", s -> s.sums().liveBytes())
                                            .bytes("peak", s -> s.sums().peakBytes())
                                            .count("calls", s -> s.sums().calls())
                                            .text(
                                                    "stack",
                                                    s ->
                                                            String.join(
                                                                    " < ",
                                                                    s.frames().stream()
                                                                            .map(f -> f.shown())
                                                                            .toList()))
                                            .table(watched.profile().stacks()))),
                    call.json());
            return watched.status();
        } catch (ExecException e) {
            call.say(String.valueOf(e.getMessage()));
            return e.exitCode();
        }
    }
}
