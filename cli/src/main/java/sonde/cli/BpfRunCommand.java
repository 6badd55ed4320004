package sonde.cli;

import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.bpf.interpreter.Machine;
import sonde.tools.bpf.InterpreterRun;

/** {@code sonde bpf run}. */
@Command(
        addMethodSubcommands = false,
        name = "run",
        mixinStandardHelpOptions = true,
        description = {
            "Runs a program here, without a kernel: every access is checked, and what the verifier"
                    + " would refuse ends with the instruction and the register that did it. FILE"
                    + " is text as 'asm' reads it. R0 is printed."
        },
        footer = {
            "",
            "Examples:",
            "  printf 'r0 = 6\\nr0 *= 7\\nexit\\n' | sonde bpf run -",
            "  sonde bpf run filter.asm --xdp 0011223344556677889900aa0800",
            "",
            "Exit status: 0 it ended, 1 it did what no program may, 4 FILE is no program."
        })
final class BpfRunCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Parameters(paramLabel = "FILE", description = "text, or - for standard input")
    private @Nullable Path file;

    @Option(
            names = "--xdp",
            paramLabel = "HEX",
            description = "the context is that of XDP, with this packet")
    private @Nullable String xdp;

    @Option(
            names = "--context",
            paramLabel = "HEX",
            description = "bytes that R1 points to; else none")
    private @Nullable String context;

    @Option(
            names = "--budget",
            paramLabel = "COUNT",
            description = "instructions it may take (default ${DEFAULT-VALUE})")
    private long budget = Machine.DEFAULT_BUDGET;

    @Option(names = "--json", description = "as JSON")
    private boolean json;

    BpfRunCommand() {
        // picocli fills the options
    }

    @Override
    public Integer call() throws Exception {
        InterpreterRun run = InterpreterRun.of(Objects.requireNonNull(file), xdp, context, budget);
        Shown.onOut(run.result(), json);
        if (run.fault().isEmpty()) {
            return ExitCode.DONE;
        }
        Failures.say(spec.commandLine().getErr(), run.fault());
        return ExitCode.NEGATIVE;
    }
}
