package sonde.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.probe.dynamic.Definer;
import sonde.probe.dynamic.PointSpec;
import sonde.probe.dynamic.ProbeException;
import sonde.probe.dynamic.Subject;
import sonde.tools.probe.NamedProbeRecipe;
import sonde.tools.probe.ProbeAnswer;

/** {@code sonde probe add}. */
@Command(
        addMethodSubcommands = false,
        name = "add",
        mixinStandardHelpOptions = true,
        description = "Sets probes that stay until 'sonde probe del'.",
        footer = {
            "",
            "A DEFINITION is '[[GROUP:]NAME=]PLACE [[NAME=]EXPRESSION[:TYPE]…]'.",
            "PLACE: FUNCTION  FUNCTION:LINE  FUNCTION+OFFSET  FUNCTION%%return  FUNCTION@FILE",
            "       MODULE:FUNCTION…  FILE:LINE  0xADDRESS  %%PROVIDER:MARKER  tracepoint:NAME",
            "EXPRESSION: a variable, p->member, a[3].b, *p, &x, (struct t *)p, casts,",
            "       container_of(p, struct t, member)->other, $retval, $arg1, $comm, $stack0,",
            "       $vars, $params, %%register, +8(%%sp), @symbol",
            "TYPE: u8 … s64 x64 string ustring symbol char b3@5/32 u32[4]; else the variable's own",
            "",
            "Examples:",
            "  sonde probe add 'start_dl_timer:16 timer dl_se->dl_timer.function'",
            "  sonde probe add 'tcp_sendmsg size' 'tcp_sendmsg%%return ret=$retval'",
            "  sonde probe add -x bash 'readline%%return line=$retval:string'",
            "  sonde probe add -n -x ./server 'server.c:107 $vars'     only shows what it would do"
        })
final class ProbeAddCommand implements Callable<Integer> {
    @Mixin private ProbeTarget target = new ProbeTarget();

    @Parameters(arity = "1..*", paramLabel = "DEFINITION", description = "place and arguments")
    private List<String> definitions = List.of();

    @Option(
            names = {"-n", "--dry-run"},
            description = "show what would be written to the kernel, and write nothing")
    private boolean dryRun;

    @Option(
            names = "--fprobe",
            description =
                    "entries and returns of kernel functions by the function tracer: less cost"
                            + " than kprobes (Linux 6.5)")
    private boolean fprobe;

    @Option(
            names = "--every",
            description = "a line means every place at which its code begins, not the first alone")
    private boolean every;

    @Option(
            names = {"-f", "--force"},
            hidden = true)
    @SuppressWarnings(
            "UnusedVariable") // perf needs it for a second probe of a name; names are free here
    private boolean force;

    @Option(
            names = "--unsafe",
            description = "also at returns of Go functions, which can end the program")
    private boolean unsafe;

    @Option(names = "--group", paramLabel = "GROUP", description = "instead of probe or probe_FILE")
    private @Nullable String group;

    @Option(names = "--name", paramLabel = "NAME", description = "instead of the function's")
    private @Nullable String name;

    @Option(names = "--json", description = "as JSON")
    private boolean json;

    @Spec private CommandSpec spec;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    ProbeAddCommand() {}

    @Override
    public Integer call() throws Exception {
        List<PointSpec> points = new ArrayList<>();
        for (String text : definitions) {
            try {
                points.add(point(text));
            } catch (ProbeException e) {
                throw NamedProbeRecipe.split(definitions.getFirst(), text, e);
            }
        }
        try (Subject subject = target.open(NamedProbeRecipe.module(points))) {
            ProbeAnswer answer = NamedProbeRecipe.add(subject, points, dryRun, this::set);
            return ProbeCommand.show(answer, json, spec);
        }
    }

    private Definer set(Definer usual) {
        Definer definer = fprobe ? usual.byFunctionTracer() : usual;
        definer = every ? definer.everyPlace() : definer;
        return unsafe ? definer.unsafe() : definer;
    }

    private PointSpec point(String text) throws ProbeException {
        PointSpec read = PointSpec.parse(text);
        return new PointSpec(
                read.text(),
                read.module(),
                group == null ? read.group() : word(group, "--group"),
                name == null ? read.name() : word(name, "--name"),
                read.place(),
                read.arguments());
    }

    private String word(String given, String option) {
        if (!given.matches("[A-Za-z_]\\w{0,62}")) {
            throw new ParameterException(
                    spec.commandLine(),
                    option + " takes letters, digits and _, 63 at most, no digit first");
        }
        return given;
    }
}
