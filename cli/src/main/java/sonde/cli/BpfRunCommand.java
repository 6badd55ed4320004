package sonde.cli;

import java.nio.file.Path;
import sonde.bpf.interpreter.BpfMachine;
import sonde.tools.bpf.InterpreterRun;
import sonde.tools.option.GivenOptions;

/** {@code sonde bpf run}. */
final class BpfRunCommand {
    static final String MODEL =
            """
            sonde bpf run [OPTIONS] FILE

            Run a program here, without a kernel. Every access is checked; what the verifier would
            refuse ends with the instruction and the register that did it. FILE is text as 'sonde
            bpf asm' reads it. R0 is printed.

            Arguments:
              FILE            text, or - for standard input

            Options:
              --xdp HEX       the context is that of XDP, with this packet
              --context HEX   R1 points to these bytes
              --budget COUNT  end after COUNT instructions (default 1000000)
              --json          print JSON

            Examples:
              printf 'r0 = 6\\nr0 *= 7\\nexit\\n' | sonde bpf run -
              sonde bpf run filter.asm --xdp 0011223344556677889900aa0800

            Exit status:
              0 it ended, 1 it did what no program may, 4 FILE is not a program
            """;

    private BpfRunCommand() {}

    static int run(CommandCall call) throws Exception {
        GivenOptions given = call.given();
        InterpreterRun run =
                InterpreterRun.of(
                        Path.of(given.words().getFirst()),
                        given.text("--xdp"),
                        given.text("--context"),
                        given.number("--budget").orElse(BpfMachine.DEFAULT_BUDGET));
        ResultPrinter.onOut(run.result(), call.json());
        if (run.fault().isEmpty()) {
            return ExitCode.DONE;
        }
        call.say(run.fault());
        return ExitCode.NEGATIVE;
    }
}
