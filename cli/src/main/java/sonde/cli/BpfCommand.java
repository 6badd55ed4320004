package sonde.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code sonde bpf}. */
@Command(
        mixinStandardHelpOptions = true,
        description = "Works with eBPF programs.",
        subcommands = {BpfAsmCommand.class, BpfDisasmCommand.class, BpfRunCommand.class},
        footer = {
            "",
            "Examples:",
            "  sonde bpf asm filter.asm -o filter.bin     text to instructions",
            "  sonde bpf disasm filter.bin                and back",
            "  sonde bpf run filter.asm                   runs it here, without a kernel"
        })
final class BpfCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    BpfCommand() {
        // picocli fills the specification
    }

    @Override
    public Integer call() {
        throw new ParameterException(
                spec.commandLine(),
                "one of these is missing: "
                        + String.join(
                                ", ", spec.subcommands().keySet().stream().sorted().toList()));
    }
}
