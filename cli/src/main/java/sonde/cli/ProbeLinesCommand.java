package sonde.cli;

import java.nio.file.Path;
import java.util.List;
import sonde.probe.dynamic.PointSpec;
import sonde.probe.dynamic.ProbedObject;
import sonde.tools.probe.SourceProbeRecipe;

/** {@code sonde probe lines}. */
final class ProbeLinesCommand {
    static final String MODEL =
            """
            sonde probe lines [OPTIONS] FUNCTION[@FILE]|FILE[:FROM-TO]

            Show the source of a function or file. Lines with a number can be probed. Line numbers
            of a function count from its first line, as in FUNCTION:LINE.

            Arguments:
              PLACE           FUNCTION, FUNCTION@FILE, FILE or FILE:FROM-TO
            """
                    + ProbeTarget.MODEL
                    + """

                    Options:
                      -s, --source DIR
                                      look for source files here if they are not where they were
                                      compiled (repeatable)
                      --json          print JSON

                    Examples:
                      sonde probe lines start_dl_timer
                      sonde probe lines -x ./server server.c:100-140
                      sonde probe lines --source ~/linux schedule
                    """;

    private ProbeLinesCommand() {}

    static int run(CommandCall call) throws Exception {
        String what = call.given().words().getFirst();
        List<Path> sources = call.given().texts("--source").stream().map(Path::of).toList();
        try (ProbedObject subject = ProbeTarget.open(call, PointSpec.module(what))) {
            return ProbeCommand.show(SourceProbeRecipe.lines(subject, what, sources), call);
        }
    }
}
