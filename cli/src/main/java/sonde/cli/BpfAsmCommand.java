package sonde.cli;

import java.io.OutputStream;
import java.nio.ByteOrder;
import java.nio.file.Path;
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
import sonde.bpf.insn.Encoding;
import sonde.event.result.Result;
import sonde.tools.bpf.CodeText;
import sonde.tools.bpf.ProgramFile;

/** {@code sonde bpf asm}. */
@Command(
        addMethodSubcommands = false,
        name = "asm",
        mixinStandardHelpOptions = true,
        description = {
            "Turns text into eBPF instructions. A line is an instruction as the kernel prints it"
                    + " (r0 = 5, r1 = *(u64 *)(r10 -8), if r1 != 0x0 goto out, call"
                    + " bpf_ktime_get_ns, exit), 'out:' names a place, ';' begins a comment;"
                    + " lines of the verifier's log and of bpftool may keep number and opcode."
        },
        footer = {
            "",
            "Examples:",
            "  echo 'r0 = 0; nothing found' | sonde bpf asm -",
            "  sonde bpf asm filter.asm -o filter.bin     the bytes, 8 an instruction",
            "  sonde bpf asm filter.asm --to c            struct bpf_insn for a C program",
            "",
            "Exit status: 0 done, 4 a line is no instruction."
        })
final class BpfAsmCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Parameters(paramLabel = "FILE", description = "text, or - for standard input")
    private @Nullable Path file;

    @Option(
            names = "--to",
            paramLabel = "FORM",
            description = "hex, raw, c or json; hex, with -o raw")
    private @Nullable String to;

    @Option(names = "-o", paramLabel = "OUT", description = "a new file instead of the output")
    private @Nullable Path out;

    @Option(
            names = {"-f", "--force"},
            description = "replace OUT when it exists")
    private boolean force;

    @Option(names = "--big-endian", description = "for machines of that order")
    private boolean bigEndian;

    @Option(names = "--json", description = "as --to json")
    private boolean json;

    BpfAsmCommand() {
        // picocli fills the options
    }

    @Override
    public Integer call() throws Exception {
        Code code = ProgramFile.assemble(Objects.requireNonNull(file));
        Path target = out;
        String form = to != null ? to : json ? "json" : target == null ? "hex" : "raw";
        ByteOrder order = bigEndian ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        Result result =
                switch (form) {
                    case "hex", "json" -> CodeText.hex(code, order);
                    case "c" -> CodeText.initialiser(code);
                    case "raw" -> null;
                    default ->
                            throw new ParameterException(
                                    spec.commandLine(),
                                    "no form is called "
                                            + form
                                            + "; --to takes hex, raw, c or json");
                };
        if (result == null) {
            byte[] bytes = Encoding.bytes(code.words(), order);
            if (target == null) {
                Shown.bytes(bytes);
            } else {
                try (OutputStream stream = Shown.newFile(target, force)) {
                    stream.write(bytes);
                }
            }
            return ExitCode.DONE;
        }
        Shown.Form shown = form.equals("json") ? Shown.Form.JSON : Shown.Form.TEXT;
        return target == null
                ? Shown.onOut(result, shown)
                : Shown.inFile(result, shown, target, force);
    }
}
