package sonde.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import sonde.probe.dynamic.Definer;
import sonde.probe.dynamic.Definition;
import sonde.probe.dynamic.NamedProbes;
import sonde.probe.dynamic.PointSpec;
import sonde.probe.dynamic.ProbeException;
import sonde.probe.dynamic.ProbeKinds;
import sonde.probe.dynamic.Subject;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;
import sonde.view.Escape;

/** {@code sonde probe add}. */
final class ProbeAddCommand {
    static final String MODEL =
            """
            sonde probe add [OPTIONS] DEFINITION...

            Set probes that stay until 'sonde probe del' removes them.

            Arguments:
              DEFINITION...   '[[GROUP:]NAME=]PLACE [[NAME=]EXPRESSION[:TYPE]...]'
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

                    Not in help:
                      -f, --force     as perf: two probes may have one name

                    Definitions:
                      PLACE: FUNCTION  FUNCTION:LINE  FUNCTION+OFFSET  FUNCTION%return
                             FUNCTION@FILE  MODULE:FUNCTION...  FILE:LINE  0xADDRESS
                             %PROVIDER:MARKER  tracepoint:NAME
                      EXPRESSION: a variable, p->member, a[3].b, *p, &x, (struct t *)p, casts,
                             container_of(p, struct t, member)->other, $retval, $arg1, $comm,
                             $stack0, $vars, $params, %register, +8(%sp), @symbol
                      TYPE: u8 ... s64 x64 string ustring symbol char b3@5/32 u32[4]; else
                             that of the variable

                    Examples:
                      sonde probe add 'start_dl_timer:16 timer dl_se->dl_timer.function'
                      sonde probe add 'tcp_sendmsg size' 'tcp_sendmsg%return ret=$retval'
                      sonde probe add -x bash 'readline%return line=$retval:string'
                      sonde probe add -n -x ./server 'server.c:107 $vars'   shows what it would do
                    """;

    private final CommandCall call;
    private final GivenOptions given;
    private final List<String> definitions;

    private ProbeAddCommand(CommandCall call) {
        this.call = call;
        this.given = call.given();
        this.definitions = given.words();
    }

    static int run(CommandCall call) throws Exception {
        return new ProbeAddCommand(call).run();
    }

    private int run() throws Exception {
        boolean dryRun = given.has("--dry-run");
        List<PointSpec> points = new ArrayList<>();
        for (String text : definitions) {
            try {
                points.add(point(text));
            } catch (ProbeException e) {
                throw split(text, e);
            }
        }
        try (Subject subject = ProbeTarget.open(call, module(points))) {
            NamedProbes probes = null;
            Set<String> taken = Set.of();
            ProbeKinds kinds = ProbeKinds.ALL;
            try {
                probes = NamedProbes.open();
                taken = probes.events();
                kinds = probes.kinds();
            } catch (ProbeException e) {
                if (!dryRun) {
                    throw e;
                }
            }
            Definer definer = new Definer(subject).avoiding(taken).choosing(kinds);
            definer = given.has("--fprobe") ? definer.byFunctionTracer() : definer;
            definer = given.has("--every") ? definer.everyPlace() : definer;
            definer = given.has("--unsafe") ? definer.unsafe() : definer;
            List<Definition> made = new ArrayList<>();
            for (PointSpec point : points) {
                try {
                    made.addAll(definer.define(point));
                } catch (ProbeException e) {
                    throw split(point.text(), e);
                }
            }
            PrintWriter out = call.out();
            subject.notes().forEach(note -> call.say(note));
            if (dryRun || probes == null) {
                subject.foreign().ifPresent(why -> call.say(why));
                for (Definition one : made) {
                    out.println(Escape.line(one.text()));
                    out.println("    " + Escape.line(described(one)));
                }
                return ExitCode.DONE;
            }
            probes.add(subject, made);
            added(made, out);
            return ExitCode.DONE;
        }
    }

    /** Says how variables are given where a shell made words of a definition. */
    private ProbeException split(String text, ProbeException failure) {
        String message = String.valueOf(failure.getMessage());
        boolean word = !text.equals(definitions.getFirst()) && !text.matches(".*\\s.*");
        boolean unread = message.contains("was expected") || message.startsWith("there is no func");
        return word && unread
                ? new ProbeException(
                        message
                                + "\n  if it is a variable, it belongs in the word of its place: '"
                                + definitions.getFirst()
                                + " "
                                + text
                                + "'")
                : failure;
    }

    /** The one that all of them name; empty for none. */
    private static String module(List<PointSpec> points) throws ProbeException {
        List<String> modules = points.stream().map(PointSpec::module).distinct().toList();
        if (modules.size() > 1) {
            throw new ProbeException("one module at a time: " + String.join(", ", modules).strip());
        }
        return modules.isEmpty() ? "" : modules.getFirst();
    }

    private PointSpec point(String text) throws ProbeException {
        String group = given.text("--group");
        String name = given.text("--name");
        PointSpec read = PointSpec.parse(text);
        return new PointSpec(
                read.text(),
                read.module(),
                group == null ? read.group() : word(group, "--group"),
                name == null ? read.name() : word(name, "--name"),
                read.place(),
                read.arguments());
    }

    private static String word(String given, String option) {
        if (!given.matches("[A-Za-z_]\\w{0,62}")) {
            throw new OptionException(
                    option + " takes letters, digits and _, 63 at most, no digit first");
        }
        return given;
    }

    private static String described(Definition one) {
        return "at " + one.source() + (one.note().isEmpty() ? "" : "; " + one.note());
    }

    private static void added(List<Definition> made, PrintWriter out) {
        Map<String, List<Definition>> byEvent = new LinkedHashMap<>();
        made.forEach(one -> byEvent.computeIfAbsent(one.event(), _ -> new ArrayList<>()).add(one));
        byEvent.forEach((event, all) -> {
            out.println(event);
            all.forEach(one -> out.println("    " + Escape.line(described(one))));
        });
        String first = made.getFirst().event();
        out.println();
        out.println("sonde record -e " + first + " -- COMMAND   records it");
        out.println("sonde probe del " + first + "   removes it");
    }
}
