package sonde.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import sonde.tools.doctor.DoctorRecipe;

/** {@code sonde doctor}. */
@Command(
        addMethodSubcommands = false,
        mixinStandardHelpOptions = true,
        description = "Says what this machine allows, what each gap costs, and the remedy.",
        footer = {"", "Example: sudo sonde doctor"})
final class DoctorCommand implements Callable<Integer> {
    @Option(names = "--json", description = "as JSON")
    private boolean json;

    @Override
    public Integer call() throws Exception {
        Shown.onOut(DoctorRecipe.examine(), json);
        return ExitCode.DONE;
    }
}
