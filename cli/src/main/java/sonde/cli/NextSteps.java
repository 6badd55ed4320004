package sonde.cli;

import java.io.PrintWriter;
import java.nio.file.Path;

/** What to do with a recording that was just made. */
final class NextSteps {
    private NextSteps() {}

    static void print(Path bundle, PrintWriter err) {
        String called = System.getenv().getOrDefault("SONDE_CALLED", "sonde");
        err.println();
        err.println("recorded into " + bundle + "; next:");
        err.println("  " + called + " report " + bundle + " --threads --oncpu --offcpu");
        err.println("  " + called + " report " + bundle + " --html report.html");
    }
}
