package sonde.cli;

import java.util.List;
import sonde.event.result.Result;
import sonde.tools.kernel.KmemleakRecipe;
import sonde.tools.option.OptionException;

/** {@code sonde kernel kmemleak}. */
final class KernelKmemleakCommand {
    static final String MODEL =
            """
            sonde kernel kmemleak scan|show|clear|dump|auto [OPTIONS] [VALUE]

            Use the kernel's leak detector: it finds memory that nothing in the kernel points to.
            Leaks of the same size and stack are one row. The kernel needs CONFIG_DEBUG_KMEMLEAK.

            Arguments:
              ACTION          scan: scan twice, 5.5 s apart, and show the leaks; show (or list):
                              show what was found so far; clear: forget it; dump: show the object
                              at an address; auto: the kernel's own scans
              [VALUE]         an address for dump; on, off or seconds for auto

            Options:
              --once          scan once only: young objects are not reported then
              --json          print JSON

            Examples:
              sudo sonde kernel kmemleak scan
              sudo sonde kernel kmemleak dump 0xffff888003eb8500
              sudo sonde kernel kmemleak auto off
            """;

    private KernelKmemleakCommand() {}

    static int run(CommandCall call) throws Exception {
        List<String> words = call.given().words();
        String value = words.size() > 1 ? words.get(1) : "";
        boolean once = call.has("--once");
        Result result =
                switch (words.getFirst()) {
                    case "scan" -> KmemleakRecipe.scan(once);
                    case "show", "list" -> KmemleakRecipe.show();
                    case "clear" -> KmemleakRecipe.clear();
                    case "dump" -> KmemleakRecipe.dump(value);
                    case "auto" -> KmemleakRecipe.auto(value);
                    default ->
                            throw new OptionException(
                                    "'%s' is not scan, show, clear, dump or auto"
                                            .formatted(words.getFirst()));
                };
        return ResultPrinter.onOut(result, call.json());
    }
}
