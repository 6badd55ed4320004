package sonde.cli;

import java.nio.file.Path;
import sonde.binary.MalformedInputException;
import sonde.tools.elf.ElfArguments;
import sonde.tools.elf.ElfRecipe;
import sonde.tools.elf.ElfRequest;

/** {@code sonde elf}. */
final class ElfCommand {
    static final String MODEL = ElfArguments.MODEL;

    private ElfCommand() {}

    static int run(CommandCall call) throws Exception {
        ElfArguments arguments = ElfArguments.of(call.given());
        ElfRequest request = arguments.request(call::say);
        boolean whole = true;
        for (Path file : arguments.files()) {
            ElfRecipe recipe = new ElfRecipe(file, request, call::say);
            try {
                ResultPrinter.onOut(recipe.result(arguments.files().size() > 1), call.json());
                whole &= recipe.isWhole();
            } catch (MalformedInputException e) {
                throw new MalformedInputException(file.toString(), "ELF", -1, e.reason());
            }
        }
        return whole ? ExitCode.DONE : ExitCode.MALFORMED;
    }
}
