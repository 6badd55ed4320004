package sonde.cli;

import java.nio.ByteOrder;
import java.nio.file.Path;
import sonde.tools.bpf.Disassembly;

/** {@code sonde bpf disasm}. */
final class BpfDisasmCommand {
    static final String MODEL =
            """
            sonde bpf disasm [OPTIONS] FILE

            Print eBPF instructions as the kernel prints them. FILE holds their bytes or hexadecimal
            digits, or is an object of clang or gcc.

            Arguments:
              FILE            instructions, or - for standard input

            Options:
              --big-endian    made for big-endian machines
              --classic       classic BPF: decimal as tcpdump -ddd writes it, or its bytes
              --translate     print classic BPF as the eBPF program that it becomes
              --json          print JSON with the keys of bpftool

            Examples:
              echo 'b7 00 00 00 2a 00 00 00  95 00 00 00 00 00 00 00' | sonde bpf disasm -
              sonde bpf disasm filter.bin --json
              sonde bpf disasm counter.bpf.o             each function of an object
              tcpdump -y EN10MB -ddd 'port 53' | sonde bpf disasm --classic -
              tcpdump -y EN10MB -ddd 'port 53' | sonde bpf disasm --translate -

            Exit status:
              0 done, 4 there are words that are no instruction (printed as BUG_xx)
            """;

    private BpfDisasmCommand() {}

    static int run(CommandCall call) throws Exception {
        Path from = Path.of(call.given().words().getFirst());
        Disassembly.Kind kind =
                call.has("--translate")
                        ? Disassembly.Kind.TRANSLATED
                        : call.has("--classic")
                                ? Disassembly.Kind.CLASSIC
                                : Disassembly.Kind.EXTENDED;
        ByteOrder order = call.has("--big-endian") ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        Disassembly disassembly = Disassembly.of(from, kind, order);
        ResultPrinter.onOut(disassembly.result(), call.json());
        if (disassembly.problem().isEmpty()) {
            return ExitCode.DONE;
        }
        call.say(disassembly.problem());
        return ExitCode.MALFORMED;
    }
}
