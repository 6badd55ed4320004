package sonde.cli;

import java.io.IOException;
import java.util.List;
import sonde.tools.option.OptionException;
import sonde.tools.probe.ProbeAnswer;
import sonde.view.TextEscape;

/** {@code sonde probe}. */
final class ProbeCommand {
    static final String MODEL =
            """
            sonde probe COMMAND [OPTIONS]

            Set probes at functions and lines of the kernel or a program. Named probes stay in the
            kernel until 'sonde probe del' removes them.

            Arguments:
              [COMMAND...]

            Examples:
              sonde probe funcs -x ./server 'parse_*'       functions of a program
              sonde probe lines start_dl_timer              source, with the lines for probes
              sonde probe vars start_dl_timer:16            variables there, and where they are
              sonde probe add 'start_dl_timer:16 timer'     a probe that records a variable
              sonde probe add -x ./server 'parse:7 len name:string'
              sonde record -e probe_server:parse_L7 -- ./server
              sonde probe del 'probe_server:*'
            """;

    static final List<String> COMMANDS = List.of("funcs", "lines", "vars", "add", "list", "del");

    private ProbeCommand() {}

    /** Prints an answer, its notes to standard error. */
    static int show(ProbeAnswer answer, CommandCall call) throws IOException {
        ResultPrinter.onOut(answer.result(), call.json());
        call.say(answer.notes());
        return answer.found() ? ExitCode.DONE : ExitCode.NEGATIVE;
    }

    /** Only reached where no known command was named. */
    static int run(CommandCall call) {
        if (call.given().words().isEmpty()) {
            throw new OptionException("one of these is missing: " + String.join(", ", COMMANDS));
        }
        String word = TextEscape.line(call.given().words().getFirst());
        throw new OptionException(
                "no command is called '%s'; to set a probe there: sonde probe add '%s'"
                        .formatted(word, word));
    }
}
