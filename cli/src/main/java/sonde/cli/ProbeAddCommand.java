package sonde.cli;

import java.util.ArrayList;
import java.util.List;
import sonde.probe.dynamic.PointSpec;
import sonde.probe.dynamic.PointSpec.PointPlace.FilePoint;
import sonde.probe.dynamic.ProbeDefiner;
import sonde.probe.dynamic.ProbeException;
import sonde.probe.dynamic.ProbedObject;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;
import sonde.tools.probe.NamedProbeRecipe;

/** {@code sonde probe add}. */
final class ProbeAddCommand {
    static final String MODEL =
            """
            sonde probe add [OPTIONS] DEFINITION...

            Set probes that stay until 'sonde probe del' removes them.

            Arguments:
              DEFINITION...   '[[GROUP:]NAME=]PLACE [[NAME=]EXPRESSION[:TYPE]...]';
                              p:[GROUP/]NAME and r:[GROUP/]NAME before it, as in tracefs;
                              the quotes may be left out for a single definition
            """
                    + ProbeTarget.MODEL
                    + """

                    Options:
                      -n, --dry-run   print what would be written to the kernel, and write nothing
                      --fprobe        probe entries and returns of kernel functions by the function
                                      tracer, which costs less than kprobes (Linux 6.5)
                      --every         probe every place at which the code of a line begins, not only
                                      the first
                      --unsafe        also probe returns of Go functions, which can end the program
                      --group GROUP   use this group instead of probe or probe_FILE
                      --name NAME     use this name instead of the function's
                      --json          print JSON

                    Not in help:
                      -f, --force     as perf: two probes may have one name

                    Definitions:
                      PLACE: FUNCTION  FUNCTION:LINE  FUNCTION+OFFSET  FUNCTION%return
                             FUNCTION@FILE  MODULE:FUNCTION...  FILE:LINE  0xADDRESS
                             %PROVIDER:MARKER  tracepoint:NAME  /PATH:0xFILEOFFSET
                      EXPRESSION: a variable, p->member, a[3].b, *p, &x, (struct t *)p, casts,
                             container_of(p, struct t, member)->other, $retval, $arg1, $comm,
                             $stack0, $vars, $params, %register, +8(%sp), @symbol
                      TYPE: u8 ... s64 x64 string ustring symbol char b3@5/32 u32[4]; else
                             that of the variable

                    Examples:
                      sonde probe add 'start_dl_timer:16 timer dl_se->dl_timer.function'
                      sonde probe add do_sys_openat2 filename:string
                      sonde probe add 'tcp_sendmsg size' 'tcp_sendmsg%return ret=$retval'
                      sonde probe add -x bash 'readline%return line=$retval:string'
                      sonde probe add -n -x ./server 'server.c:107 $vars'   shows what it would do
                    """;

    private ProbeAddCommand() {}

    /** As perf's command line has them, variables need no quotes: all words are one definition. */
    static int run(CommandCall call) throws Exception {
        List<String> words = call.given().words();
        boolean isTracefs = words.getFirst().matches("[a-z]\\d*:\\S+") && words.size() > 1;
        boolean isSplit = words.size() > 1 && words.stream().noneMatch(w -> w.matches(".*\\s.*"));
        if (!isSplit && !isTracefs) {
            return add(call, words);
        }
        try {
            return add(call, List.of(String.join(" ", words)));
        } catch (ProbeException asOne) {
            try {
                return add(call, words);
            } catch (ProbeException e) {
                throw asOne; // it names the fault in what perf would have read
            }
        }
    }

    private static int add(CommandCall call, List<String> definitions) throws Exception {
        GivenOptions given = call.given();
        List<PointSpec> points = new ArrayList<>();
        String file = "";
        for (String text : definitions) {
            PointSpec point = point(text, given);
            points.add(point);
            file = point.place() instanceof FilePoint in ? in.path() : file;
        }
        try (ProbedObject subject = ProbeTarget.open(call, NamedProbeRecipe.module(points), file)) {
            boolean dryRun = given.has("--dry-run");
            return ProbeCommand.show(
                    NamedProbeRecipe.add(subject, points, dryRun, usual -> set(usual, given)),
                    call);
        }
    }

    private static ProbeDefiner set(ProbeDefiner usual, GivenOptions given) {
        ProbeDefiner definer = given.has("--fprobe") ? usual.byFunctionTracer() : usual;
        definer = given.has("--every") ? definer.everyPlace() : definer;
        return given.has("--unsafe") ? definer.unsafe() : definer;
    }

    private static PointSpec point(String text, GivenOptions given) throws ProbeException {
        PointSpec read = PointSpec.parse(text);
        return new PointSpec(
                read.text(),
                read.module(),
                word(given, "--group", read.group()),
                word(given, "--name", read.name()),
                read.place(),
                read.arguments());
    }

    private static String word(GivenOptions given, String option, String otherwise) {
        if (!given.has(option)) {
            return otherwise;
        }
        String word = given.text(option, "");
        if (!word.matches("[A-Za-z_]\\w{0,62}")) {
            throw new OptionException(
                    option + " takes letters, digits and _, 63 at most, no digit first");
        }
        return word;
    }
}
