package sonde.cli;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
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
import sonde.bpf.inventory.CgroupPrograms;
import sonde.tools.report.NothingMatchesException;
import sonde.view.Escape;

/** {@code sonde bpf cgroup}. */
@Command(
        addMethodSubcommands = false,
        name = "cgroup",
        mixinStandardHelpOptions = true,
        description = "Lists the programs of a cgroup, or of all cgroups below a folder.",
        footer = {
            "",
            "'effective' tells what runs for a cgroup, those of the cgroups above it too.",
            "Programs are attached by 'sonde bpf attach OBJECT --cgroup DIR'.",
            "",
            "Examples:",
            "  sonde bpf cgroup tree",
            "  sonde bpf cgroup list /sys/fs/cgroup/system.slice effective",
            "",
            "Exit status: 0 done, 1 there is no cgroup2 here, 3 this kernel or user cannot."
        })
final class BpfCgroupCommand implements Callable<Integer> {
    private static final List<String> ACTIONS = List.of("list", "show", "tree");
    private static final String LINE = "%-8s %-26s %-9s %s%n";

    @Spec private CommandSpec spec;

    @Parameters(
            arity = "1..*",
            paramLabel = "list|tree",
            description = "then the cgroup's folder (of tree: where to begin), and 'effective'")
    private List<String> words;

    @Option(names = "--json", description = "as JSON, with bpftool's keys")
    private boolean json;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    BpfCgroupCommand() {
        words = List.of();
    }

    @Override
    public Integer call() throws Exception {
        CommandLine line = spec.commandLine();
        String action = BpfActions.check(words, ACTIONS, line).getFirst();
        List<String> rest = new ArrayList<>(words.subList(1, words.size()));
        boolean effective = !rest.isEmpty() && rest.getLast().equals("effective");
        if (effective) {
            rest.removeLast();
        }
        if (rest.size() > 1) {
            throw new ParameterException(line, "one folder, not " + rest);
        }
        PrintWriter out = line.getOut();
        if (action.equals("tree")) {
            Path root = rest.isEmpty() ? root() : Path.of(rest.getFirst());
            tree(CgroupPrograms.tree(root, effective), out);
        } else {
            if (rest.isEmpty()) {
                throw new ParameterException(line, "say which cgroup: its folder");
            }
            Path folder = Path.of(rest.getFirst());
            List<Map<String, Object>> programs = CgroupPrograms.of(folder, effective);
            if (json) {
                out.print(BpfJson.of(programs));
            } else {
                head(out);
                programs.forEach(program -> row(program, out));
            }
        }
        out.flush();
        return ExitCode.DONE;
    }

    private static Path root() throws Exception {
        return CgroupPrograms.root()
                .orElseThrow(() -> new NothingMatchesException("no cgroup2 is mounted here"));
    }

    private void tree(List<Map<String, Object>> cgroups, PrintWriter out) throws Exception {
        if (json) {
            out.print(BpfJson.of(cgroups));
            return;
        }
        head(out);
        for (Map<String, Object> cgroup : cgroups) {
            out.println(Escape.line("" + cgroup.get("cgroup")));
            if (cgroup.get("programs") instanceof List<?> programs) {
                for (Object program : programs) {
                    if (program instanceof Map<?, ?> one) {
                        row(one, out);
                    }
                }
            }
        }
    }

    private static void head(PrintWriter out) {
        out.printf(LINE, "id", "attach_type", "flags", "name");
    }

    private static void row(Map<?, ?> program, PrintWriter out) {
        out.printf(
                LINE,
                program.get("id"),
                program.get("attach_type"),
                program.containsKey("attach_flags") ? program.get("attach_flags") : "",
                Escape.line("" + program.get("name")));
    }
}
