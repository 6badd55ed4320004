package sonde.cli;

import java.util.List;
import java.util.concurrent.Callable;
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
    private static final List<String> COMMANDS =
            List.of(
                    "asm",
                    "disasm",
                    "run",
                    "verify",
                    "feature",
                    "load",
                    "attach",
                    "gen",
                    "prog",
                    "map",
                    "link",
                    "cgroup",
                    "net",
                    "btf",
                    "iter",
                    "pin",
                    "tracelog");

    @Spec private CommandSpec spec;

    BpfCommand() {
        // picocli fills the specification
    }

    /** Adds the command that is named, for each that is built takes 10 ms; all where none is. */
    static void addCommands(CommandLine line, String named) {
        List<String> names = COMMANDS.contains(named) ? List.of(named) : COMMANDS;
        for (String name : names) {
            line.addSubcommand(name, command(name));
        }
    }

    /** By words and not by a table of constructors, which would load every class at each start. */
    private static Object command(String name) {
        return switch (name) {
            case "asm" -> new BpfAsmCommand();
            case "disasm" -> new BpfDisasmCommand();
            case "run" -> new BpfRunCommand();
            case "verify" -> new BpfVerifyCommand();
            case "feature" -> new BpfFeatureCommand();
            case "load" -> new BpfLoadCommand();
            case "attach" -> new BpfAttachCommand();
            case "gen" -> new BpfGenCommand();
            case "prog" -> new BpfProgCommand();
            case "map" -> new BpfMapCommand();
            case "link" -> new BpfLinkCommand();
            case "cgroup" -> new BpfCgroupCommand();
            case "net" -> new BpfNetCommand();
            case "btf" -> new BpfBtfCommand();
            case "iter" -> new BpfIterCommand();
            case "pin" -> new BpfPinCommand();
            case "tracelog" -> new BpfTraceLogCommand();
            default -> throw new IllegalArgumentException(name);
        };
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
