package sonde.cli;

import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.tools.bpf.Disassembly;

/** {@code sonde bpf disasm}. */
@Command(
        addMethodSubcommands = false,
        name = "disasm",
        mixinStandardHelpOptions = true,
        description = {
            "Prints eBPF instructions as the kernel prints them. FILE holds their bytes, or"
                    + " hexadecimal digits, or is an object of clang or gcc."
        },
        footer = {
            "",
            "Examples:",
            "  echo 'b7 00 00 00 2a 00 00 00  95 00 00 00 00 00 00 00' | sonde bpf disasm -",
            "  sonde bpf disasm filter.bin --json",
            "  sonde bpf disasm counter.bpf.o             each function of an object",
            "  tcpdump -y EN10MB -ddd 'port 53' | sonde bpf disasm --classic -",
            "  tcpdump -y EN10MB -ddd 'port 53' | sonde bpf disasm --translate -",
            "",
            "Exit status: 0 done, 4 there are words that are no instruction (printed as BUG_xx)."
        })
final class BpfDisasmCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Parameters(paramLabel = "FILE", description = "instructions, or - for standard input")
    private @Nullable Path file;

    @Option(names = "--big-endian", description = "made for machines of that order")
    private boolean bigEndian;

    @Option(names = "--json", description = "as JSON, with bpftool's keys")
    private boolean json;

    @Option(
            names = "--classic",
            description = "classic BPF: decimal as tcpdump -ddd writes it, or its bytes")
    private boolean classic;

    @Option(names = "--translate", description = "classic BPF as the eBPF program that it becomes")
    private boolean translate;

    BpfDisasmCommand() {
        // picocli fills the options
    }

    @Override
    public Integer call() throws Exception {
        Path from = Objects.requireNonNull(file);
        Disassembly.Kind kind =
                translate
                        ? Disassembly.Kind.TRANSLATED
                        : classic ? Disassembly.Kind.CLASSIC : Disassembly.Kind.EXTENDED;
        ByteOrder order = bigEndian ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        Disassembly disassembly = Disassembly.of(from, kind, order);
        Shown.onOut(disassembly.result(), json);
        if (disassembly.problem().isEmpty()) {
            return ExitCode.DONE;
        }
        Failures.say(spec.commandLine().getErr(), disassembly.problem());
        return ExitCode.MALFORMED;
    }
}
