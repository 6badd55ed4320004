package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.bpf.classic.ClassicFilterException;
import sonde.bpf.classic.ClassicProgram;
import sonde.bpf.classic.Translation;
import sonde.bpf.insn.Disassembler;
import sonde.bpf.insn.Encoding;
import sonde.bpf.insn.InvalidInstructionException;
import sonde.bpf.object.ObjectListing;
import sonde.format.JsonString;
import sonde.view.Escape;

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
        byte[] bytes = BpfWords.read(from);
        ByteOrder order = bigEndian ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        PrintWriter out = spec.commandLine().getOut();
        if (BpfWords.isElf(bytes)) {
            return object(from, out);
        }
        long[] words;
        if (classic || translate) {
            ClassicProgram program = classicProgram(from, bytes, order);
            if (!translate) {
                out.print(program);
                out.flush();
                return ExitCode.DONE;
            }
            words = Translation.of(program).words();
        } else {
            words = BpfWords.words(from, bytes, order);
        }
        List<String> lines = Disassembler.lines(words);
        if (json) {
            StringBuilder text = new StringBuilder();
            BpfWords.json(text, words, lines);
            out.print(text);
        } else {
            lines.forEach(out::println);
        }
        out.flush();
        return complaint(from, words);
    }

    /** The functions of an object, with what its relocations name behind the instructions. */
    private int object(Path from, PrintWriter out) throws IOException {
        StringBuilder text = new StringBuilder("[");
        List<ObjectListing> all = ObjectListing.of(BpfObjectArguments.read(List.of(from)));
        for (ObjectListing one : all) {
            List<String> lines = Disassembler.lines(one.words());
            if (json) {
                text.append(text.length() == 1 ? "" : ",\n");
                JsonString.append(text.append("{\"name\": "), one.name());
                JsonString.append(text.append(", \"section\": "), one.section());
                BpfWords.array(text.append(", \"insns\": "), one.words(), lines);
                text.append(", \"references\": ")
                        .append(BpfJson.of(one.references()).strip())
                        .append('}');
                continue;
            }
            out.println(Escape.line(one.section() + ", " + one.name() + ":"));
            for (String line : lines) {
                int slot = Integer.parseInt(line.substring(0, line.indexOf(':')));
                String reference = one.references().getOrDefault(slot, "");
                out.println(line + (reference.isEmpty() ? "" : "  ; " + Escape.line(reference)));
            }
        }
        if (json) {
            out.println(text.append(']'));
        }
        out.flush();
        return ExitCode.DONE;
    }

    private int complaint(Path from, long[] words) {
        try {
            Encoding.decodeAll(words);
            return ExitCode.DONE;
        } catch (InvalidInstructionException e) {
            Failures.say(spec.commandLine().getErr(), BpfWords.name(from) + ": " + e.getMessage());
            return ExitCode.MALFORMED;
        }
    }

    private static ClassicProgram classicProgram(Path from, byte[] bytes, ByteOrder order)
            throws BpfInputException {
        boolean text = bytes.length > 0;
        for (byte b : bytes) {
            text &= b >= '0' && b <= '9' || b == ' ' || b == '\n' || b == '\r' || b == ',';
        }
        try {
            return text
                    ? ClassicProgram.parse(BpfWords.text(from, bytes))
                    : ClassicProgram.decode(bytes, order);
        } catch (ClassicFilterException e) {
            throw new BpfInputException(BpfWords.name(from) + ": " + e.getMessage());
        }
    }
}
