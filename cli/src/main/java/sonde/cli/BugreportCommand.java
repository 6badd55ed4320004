package sonde.cli;

import java.nio.file.Path;
import sonde.event.result.Report;
import sonde.tools.doctor.BugReportRecipe;

/** {@code sonde bugreport}. */
final class BugreportCommand {
    static final String MODEL =
            """
            sonde bugreport [OPTIONS]

            Print what a report of a fault of sonde needs: version, build, libraries, kernel, and
            what 'sonde doctor' finds. No name of a host, a user, a file or a process is in it.

            Options:
              -o, --output FILE
                              also write it to a new file
              --force         overwrite the file of --output if it exists
              --json          print JSON

            Examples:
              sudo sonde bugreport -o report.txt
            """;

    private BugreportCommand() {}

    static int run(CommandCall call) throws Exception {
        Report report = BugReportRecipe.make(Main.VERSION);
        Path file = call.given().path("--output");
        if (file != null) {
            ResultPrinter.OutputForm form =
                    call.json() ? ResultPrinter.OutputForm.JSON : ResultPrinter.OutputForm.TEXT;
            ResultPrinter.inFile(report, form, file, call.has("--force"));
        }
        return ResultPrinter.onOut(report, call.json());
    }
}
