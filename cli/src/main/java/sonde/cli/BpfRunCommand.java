package sonde.cli;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.bpf.insn.Code;
import sonde.bpf.interpreter.Context;
import sonde.bpf.interpreter.Environment;
import sonde.bpf.interpreter.Machine;
import sonde.bpf.interpreter.ProgramFaultException;

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
        Context given = context();
        Code code = BpfWords.assemble(Objects.requireNonNull(file));
        PrintWriter out = spec.commandLine().getOut();
        List<String> printed = new ArrayList<>();
        Machine machine =
                new Machine(
                        new Environment() {
                            @Override
                            public void trace(String line) {
                                if (json) {
                                    printed.add(line.stripTrailing());
                                } else {
                                    out.println("trace_printk: " + line.stripTrailing());
                                }
                            }
                        });
        try {
            long result = machine.load(code).run(given, budget);
            var left = given.packet();
            boolean hasPacket = xdp != null && left != null;
            String packet = left == null ? "" : HexFormat.of().formatHex(left.bytes());
            if (json) {
                Map<String, Object> tree = new LinkedHashMap<>();
                tree.put("r0", result);
                if (hasPacket) {
                    tree.put("packet", packet);
                }
                tree.put("trace_printk", printed);
                out.print(BpfJson.of(tree));
            } else {
                out.println(String.format(Locale.ROOT, "r0 = %d (0x%x)", result, result));
                if (hasPacket) {
                    out.println("packet " + packet);
                }
            }
            out.flush();
            return ExitCode.DONE;
        } catch (ProgramFaultException e) {
            String step = code.stepAt(e.slot());
            if (json) {
                Map<String, Object> tree = new LinkedHashMap<>();
                tree.put("fault", String.valueOf(e.getMessage()));
                tree.put("insn", (long) e.slot());
                tree.put("place", step);
                tree.put("trace_printk", printed);
                out.print(BpfJson.of(tree));
            }
            out.flush();
            Failures.say(
                    spec.commandLine().getErr(),
                    (step.isEmpty() ? "" : step + ", ") + e.getMessage());
            return ExitCode.NEGATIVE;
        }
    }

    private Context context() {
        String packet = xdp;
        String bytes = context;
        if (packet != null) {
            return Context.xdp(hex("--xdp", packet));
        }
        return bytes == null ? Context.none() : Context.of(hex("--context", bytes));
    }

    private byte[] hex(String option, String digits) {
        try {
            return HexFormat.of().parseHex(digits.replaceAll("[\\s:,]", ""));
        } catch (IllegalArgumentException e) {
            throw new ParameterException(
                    spec.commandLine(), option + " takes two hexadecimal digits a byte");
        }
    }
}
