package sonde.cli;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Column;
import sonde.event.result.Table;
import sonde.probe.dynamic.FunctionNames;
import sonde.probe.dynamic.Subject;

/** {@code sonde probe funcs}. */
final class ProbeFuncsCommand {
    static final String MODEL =
            """
            sonde probe funcs [OPTIONS] [PATTERN]

            List functions that can be probed.

            Arguments:
              [PATTERN]       a name or a glob (default *)
            """
                    + ProbeTarget.MODEL
                    + """

                    Options:
                      --json          print JSON

                    Examples:
                      sonde probe funcs 'start_dl_*'
                      sonde probe funcs -x bash 'read*'

                    Exit status:
                      0 found, 1 nothing matches
                    """;

    private final CommandCall call;

    private ProbeFuncsCommand(CommandCall call) {
        this.call = call;
    }

    static int run(CommandCall call) throws Exception {
        return new ProbeFuncsCommand(call).run();
    }

    private int run() throws Exception {
        try (Subject subject = ProbeTarget.open(call)) {
            String pattern = call.given().words().stream().findFirst().orElse("*");
            List<String> names = FunctionNames.matching(subject, pattern);
            subject.notes().forEach(note -> call.say(note));
            if (call.json()) {
                List<List<@Nullable Object>> rows = new ArrayList<>();
                names.forEach(name -> rows.add(List.of(name)));
                Shown.onOut(new Table("functions", List.of(Column.text("function")), rows), true);
            } else {
                if (names.isEmpty()) {
                    call.say(
                            "no function of "
                                    + subject.path()
                                    + " matches '"
                                    + sonde.view.Escape.line(pattern)
                                    + "'"
                                    + (subject.hasEntries()
                                            ? ""
                                            : "; it has no debugging information, so that only"
                                                    + " its symbol table could be asked"));
                }
                names.forEach(name -> call.out().println(sonde.view.Escape.line(name)));
            }
            return names.isEmpty() ? ExitCode.NEGATIVE : ExitCode.DONE;
        }
    }
}
