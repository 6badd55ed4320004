package sonde.cli;

import java.util.List;
import sonde.tools.kernel.SysrqRecipe;

/** {@code sonde kernel sysrq}. */
final class KernelSysrqCommand {
    static final String MODEL =
            """
            sonde kernel sysrq [OPTIONS] [KEY]

            Press a key of magic SysRq, and print the kernel's answer from its log. Without a key it
            lists the keys and what they do. It needs root.

            Arguments:
              [KEY]           one character; h asks the kernel which keys it has

            Options:
              --yes           press also a key that ends, kills or changes something, such as b, c,
                              e, i, o and u
              --json          print JSON

            Examples:
              sonde kernel sysrq
              sudo sonde kernel sysrq w          stacks of tasks that wait uninterruptibly
              sudo sonde kernel sysrq l          stacks of all active CPUs
            """;

    private KernelSysrqCommand() {}

    static int run(CommandCall call) throws Exception {
        List<String> words = call.given().words();
        boolean confirmed = call.has("--yes");
        return ResultPrinter.onOut(
                words.isEmpty()
                        ? SysrqRecipe.keys(false)
                        : SysrqRecipe.press(words.getFirst(), confirmed),
                call.json());
    }
}
