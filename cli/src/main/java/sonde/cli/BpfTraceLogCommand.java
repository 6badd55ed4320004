package sonde.cli;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import sonde.tools.bpf.TraceLogListing;

/** {@code sonde bpf tracelog}. */
@Command(
        name = "tracelog",
        mixinStandardHelpOptions = true,
        description = {
            "Prints what programs write by bpf_trace_printk, as it comes, until interrupted. It"
                    + " switches nothing on: the kernel did when the program was loaded. Each line"
                    + " goes to one reader of the pipe only."
        },
        footer = {
            "",
            "Examples:",
            "  sonde bpf tracelog",
            "  sonde bpf tracelog --duration 10s --count 100"
        })
final class BpfTraceLogCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Option(names = "--duration", paramLabel = "TIME", description = "end after that time")
    private @Nullable String duration;

    @Option(names = "--count", paramLabel = "N", description = "end after so many lines")
    private long count = Long.MAX_VALUE;

    @Option(names = "--json", description = "a JSON object a line")
    private boolean json;

    BpfTraceLogCommand() {
        // picocli fills the options
    }

    @Override
    public Integer call() throws Exception {
        String wanted = duration;
        long nanos =
                wanted == null ? Long.MAX_VALUE / 2 : Durations.nanos(wanted, spec.commandLine());
        return Shown.onOut(TraceLogListing.of(nanos, count), json);
    }
}
