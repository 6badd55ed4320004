package sonde.cli;

import java.util.List;
import sonde.tools.option.OptionException;

/** {@code sonde bpf}. */
final class BpfCommand {
    static final String MODEL =
            """
            sonde bpf COMMAND [OPTIONS]

            Work with eBPF programs: with files, and with what is loaded in this kernel.

            Arguments:
              [COMMAND...]

            Examples:
              sonde bpf prog list                        every program, and who holds it
              sonde bpf map dump name counts             what is in a map
              sonde bpf attach counter.bpf.o             loads an object of clang and attaches it
              sonde bpf feature                          what this kernel can do
              sonde bpf asm filter.asm -o filter.bin     text to instructions
              sonde bpf disasm filter.bin                and back
              sonde bpf run filter.asm                   runs it here, without a kernel
              sonde bpf verify filter.asm --type xdp     what the kernel says, explained
            """;

    static final List<String> COMMANDS =
            List.of(
                    """
                    asm disasm run verify feature load attach prog map link cgroup \
                    net btf iter pin tracelog\
                    """
                            .split(" "));

    private BpfCommand() {}

    /** Only reached where no known command was named. */
    static int run(CommandCall call) {
        List<String> words = call.given().words();
        throw new OptionException(
                words.isEmpty()
                        ? "one of these is missing: " + String.join(", ", COMMANDS)
                        : "no command is called '" + words.getFirst() + "'");
    }
}
