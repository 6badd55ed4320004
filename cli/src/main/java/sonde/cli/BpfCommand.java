package sonde.cli;

import static java.util.Map.entry;

import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code sonde bpf}. */
@Command(
        addMethodSubcommands = false,
        mixinStandardHelpOptions = true,
        description = "Works with eBPF programs: by themselves, and with what this machine has.",
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
    private static final List<Map.Entry<String, Supplier<Object>>> COMMANDS =
            List.of(
                    entry("asm", BpfAsmCommand::new),
                    entry("disasm", BpfDisasmCommand::new),
                    entry("run", BpfRunCommand::new),
                    entry("verify", BpfVerifyCommand::new),
                    entry("feature", BpfFeatureCommand::new),
                    entry("load", BpfLoadCommand::new),
                    entry("attach", BpfAttachCommand::new),
                    entry("gen", BpfGenCommand::new),
                    entry("prog", BpfProgCommand::new),
                    entry("map", BpfMapCommand::new),
                    entry("link", BpfLinkCommand::new),
                    entry("btf", BpfBtfCommand::new),
                    entry("iter", BpfIterCommand::new),
                    entry("pin", BpfPinCommand::new),
                    entry("tracelog", BpfTraceLogCommand::new));

    @Spec private CommandSpec spec;

    BpfCommand() {
        // picocli fills the specification
    }

    /** Adds the command that is named, for each that is built takes 10 ms; all where none is. */
    static void addCommands(CommandLine line, String named) {
        boolean known = COMMANDS.stream().anyMatch(command -> command.getKey().equals(named));
        for (Map.Entry<String, Supplier<Object>> command : COMMANDS) {
            if (!known || command.getKey().equals(named)) {
                line.addSubcommand(command.getKey(), command.getValue().get());
            }
        }
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
