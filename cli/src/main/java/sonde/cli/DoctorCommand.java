package sonde.cli;

import sonde.tools.doctor.DoctorRecipe;

/** {@code sonde doctor}. */
final class DoctorCommand {
    static final String MODEL =
            """
            sonde doctor [OPTIONS]

            Show what this machine allows, what each gap costs, and the remedy.

            Options:
              --json          print JSON

            Examples:
              sudo sonde doctor
            """;

    private DoctorCommand() {}

    static int run(CommandCall call) throws Exception {
        return ResultPrinter.onOut(DoctorRecipe.examine(), call.json());
    }
}
