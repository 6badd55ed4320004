package sonde.cli;

import sonde.tools.heap.HeapArguments;

/** {@code sonde heap}. */
final class HeapCommand {
    static final String MODEL =
            """
            sonde heap [OPTIONS] FILE

            Show what a program allocated, what made its peak, and what it did not free.

            Arguments:
              FILE            a file of heaptrack, also compressed
            """
                    + HeapArguments.MODEL
                    + """
                      --json          print JSON

                    Examples:
                      sonde heap heaptrack.make.1234.zst
                    """;

    private HeapCommand() {}

    static int run(CommandCall call) throws Exception {
        return ResultPrinter.onOut(HeapArguments.report(call.given()), call.json());
    }
}
