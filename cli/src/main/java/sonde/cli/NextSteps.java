package sonde.cli;

import java.io.PrintWriter;
import java.nio.file.Path;

/** What to do with a recording that was just made. */
final class NextSteps {
    private NextSteps() {}

    static void print(Path bundle, PrintWriter err) {
        err.println();
        err.println("recorded into " + bundle + "; next:");
        err.println("  sonde report " + bundle + " --threads --oncpu --offcpu");
        err.println("  sonde report " + bundle + " --html report.html");
    }
}
