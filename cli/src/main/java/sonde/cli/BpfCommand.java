package sonde.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code sonde bpf}. */
@Command(
        addMethodSubcommands = false,
        mixinStandardHelpOptions = true,
        description = "Works with eBPF programs: by themselves, and with what this machine has.",
        subcommands = {
            BpfAsmCommand.class,
            BpfDisasmCommand.class,
            BpfRunCommand.class,
            BpfVerifyCommand.class,
            BpfFeatureCommand.class,
            BpfLoadCommand.class,
            BpfAttachCommand.class,
            BpfGenCommand.class,
            BpfProgCommand.class,
            BpfMapCommand.class,
            BpfLinkCommand.class,
            BpfBtfCommand.class,
            BpfIterCommand.class,
            BpfPinCommand.class,
            BpfTraceLogCommand.class
        },
        synopsisSubcommandLabel = "COMMAND",
        footer = {
            "",
            "Examples:",
            "  sonde bpf prog list                        every program, and who holds it",
            "  sonde bpf map dump name counts             what is in a map",
            "  sonde bpf attach counter.bpf.o             loads an object of clang and attaches it",
            "  sonde bpf gen java counter.bpf.o           a Java class for it",
            "  sonde bpf feature                          what this kernel can do",
            "  sonde bpf asm filter.asm -o filter.bin     text to instructions",
            "  sonde bpf disasm filter.bin                and back",
            "  sonde bpf run filter.asm                   runs it here, without a kernel",
            "  sonde bpf verify filter.asm --type xdp     what the kernel says, explained"
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
