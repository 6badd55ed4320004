package sonde.cli;

import sonde.tools.bpf.TraceLogListing;

/** {@code sonde bpf tracelog}. */
final class BpfTraceLogCommand {
    static final String MODEL =
            """
            sonde bpf tracelog [OPTIONS]

            Print what programs write by bpf_trace_printk. It prints lines as they come, until it is
            interrupted. The kernel enabled the event when the program was loaded; this command
            enables nothing. Each line goes to one reader of the pipe only.

            Options:
              --duration TIME
                              end after this time
              --limit N       end after N lines
              --json          print a JSON object per line

            Old spellings:
              --count = --limit

            Examples:
              sonde bpf tracelog
              sonde bpf tracelog --duration 10s --limit 100
            """;

    private BpfTraceLogCommand() {}

    static int run(CommandCall call) throws Exception {
        long nanos = call.given().nanos("--duration").orElse(Long.MAX_VALUE / 2);
        long count = call.given().number("--limit").orElse(Long.MAX_VALUE);
        return ResultPrinter.onOut(TraceLogListing.of(nanos, count), call.json());
    }
}
