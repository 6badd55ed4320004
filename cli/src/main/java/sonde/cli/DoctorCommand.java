package sonde.cli;

import sonde.tools.doctor.DoctorRecipe;

/** {@code sonde doctor}. */
final class DoctorCommand {
    static final String MODEL =
            """
            sonde doctor [OPTIONS]

            Show what this machine allows, what each gap costs, and the remedy.

            Options:
              --clean         remove what killed sonde processes left enabled in the kernel or as
                              files, and print that and what stays, with the reason
              --json          print JSON

            Examples:
              sudo sonde doctor
              sudo sonde doctor --clean
            """;

    private DoctorCommand() {}

    static int run(CommandCall call) throws Exception {
        boolean clean = call.has("--clean");
        return ResultPrinter.onOut(
                clean ? DoctorRecipe.clean() : DoctorRecipe.examine(), call.json());
    }
}
