package sonde.cli;

import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.bpf.inventory.NetworkPrograms;
import sonde.view.Escape;

/** {@code sonde bpf net}. */
@Command(
        addMethodSubcommands = false,
        name = "net",
        mixinStandardHelpOptions = true,
        description = "Lists the programs of network devices: xdp, tc, tcx, netkit.",
        footer = {
            "",
            "Programs are attached by 'sonde bpf attach OBJECT --dev DEVICE'; 'sonde bpf cgroup'",
            "lists those of cgroups, 'sonde bpf link' all that have a link.",
            "",
            "Examples:",
            "  sonde bpf net list",
            "  sonde bpf net list dev eth0 --json"
        })
final class BpfNetCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Parameters(arity = "1..*", paramLabel = "list", description = "then perhaps: dev NAME")
    private List<String> words;

    @Option(names = "--json", description = "as JSON, with bpftool's keys")
    private boolean json;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    BpfNetCommand() {
        words = List.of();
    }

    @Override
    public Integer call() throws Exception {
        CommandLine line = spec.commandLine();
        BpfActions.check(words, List.of("list", "show"), line);
        boolean chosen = words.size() == 3 && words.get(1).equals("dev");
        if (words.size() > 1 && !chosen) {
            throw new ParameterException(line, "after list: dev NAME, or nothing");
        }
        Map<String, List<Map<String, Object>>> rows =
                NetworkPrograms.now(chosen ? words.get(2) : "");
        PrintWriter out = line.getOut();
        if (json) {
            out.print(BpfJson.of(List.of(rows)));
        } else {
            rows.forEach((kind, programs) -> {
                out.println(kind + ":");
                programs.forEach(program -> out.println("  " + text(program)));
            });
        }
        out.flush();
        return ExitCode.DONE;
    }

    private static String text(Map<String, Object> program) {
        StringBuilder text = new StringBuilder();
        program.forEach((key, value) -> {
            switch (key) {
                case "devname" -> text.append(value);
                case "ifindex" -> text.append('(').append(value).append(')');
                case "mode", "kind", "name" -> text.append(' ').append(value);
                default -> text.append(' ').append(key).append(' ').append(value);
            }
        });
        return Escape.line(text.toString().strip());
    }
}
