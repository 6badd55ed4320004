package sonde.cli;

import java.io.OutputStream;
import java.nio.ByteOrder;
import java.nio.file.Path;
import sonde.bpf.insn.InstructionEncoding;
import sonde.bpf.insn.ProgramCode;
import sonde.cli.ResultPrinter.OutputForm;
import sonde.event.result.Result;
import sonde.tools.bpf.CodeText;
import sonde.tools.bpf.ProgramFile;
import sonde.tools.option.GivenOptions;

/** {@code sonde bpf asm}. */
final class BpfAsmCommand {
    static final String MODEL =
            """
            sonde bpf asm [OPTIONS] FILE

            Turn text into eBPF instructions. A line is an instruction as the kernel prints it (r0 =
            5, r1 = *(u64 *)(r10 -8), if r1 != 0x0 goto out, call bpf_ktime_get_ns, exit), 'out:' is
            a label, ';' begins a comment. Lines of the verifier's log and of bpftool may keep
            number and opcode.

            Arguments:
              FILE            text, or - for standard input

            Options:
              --to hex|raw|c|json
                              write this form; hex without it, raw with --output
              -o, --output FILE
                              write to a new file instead of standard output
              --force         overwrite the file of --output if it exists
              --big-endian    for big-endian machines
              --json          same as --to json

            Old spellings:
              -f = --force

            Examples:
              echo 'r0 = 0; nothing found' | sonde bpf asm -
              sonde bpf asm filter.asm -o filter.bin     the bytes, 8 per instruction
              sonde bpf asm filter.asm --to c            struct bpf_insn for a C program

            Exit status:
              0 done, 4 a line is not an instruction
            """;

    private BpfAsmCommand() {}

    static int run(CommandCall call) throws Exception {
        GivenOptions given = call.given();
        ProgramCode code = ProgramFile.assemble(Path.of(given.words().getFirst()));
        Path target = given.path("--output");
        String usual = call.json() ? "json" : target == null ? "hex" : "raw";
        String form = given.text("--to", usual);
        boolean force = given.has("--force");
        ByteOrder order =
                given.has("--big-endian") ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        Result result =
                switch (form) {
                    case "hex", "json" -> CodeText.hex(code, order);
                    case "c" -> CodeText.initialiser(code);
                    default -> null;
                };
        if (result == null) {
            byte[] bytes = InstructionEncoding.bytes(code.words(), order);
            if (target == null) {
                ResultPrinter.bytes(bytes);
            } else {
                try (OutputStream stream = ResultPrinter.newFile(target, force)) {
                    stream.write(bytes);
                }
            }
            return ExitCode.DONE;
        }
        OutputForm shown = form.equals("json") ? OutputForm.JSON : OutputForm.TEXT;
        return target == null
                ? ResultPrinter.onOut(result, shown)
                : ResultPrinter.inFile(result, shown, target, force);
    }
}
