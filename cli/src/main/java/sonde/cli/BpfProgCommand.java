package sonde.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.bpf.Program;
import sonde.bpf.inventory.Holders;
import sonde.bpf.inventory.Inventory;

/** {@code sonde bpf prog}. */
@Command(
        addMethodSubcommands = false,
        name = "prog",
        mixinStandardHelpOptions = true,
        description = "Lists programs; shows, dumps, measures, runs or pins some.",
        footer = {
            "",
            "'dump xlated' prints the instructions as the verifier left them, 'dump jited' the",
            "machine code; 'opcodes', 'linum' and 'file PATH' may follow. 'run' takes data_in FILE,",
            "ctx_in FILE (or hex:0011), data_out FILE, repeat N.",
            "",
            "Examples:",
            "  sonde bpf prog list",
            "  sonde bpf prog show name sonde_count --json",
            "  sonde bpf prog dump xlated id 12 linum",
            "  sonde bpf prog dump jited name sonde_count opcodes",
            "  sonde bpf prog profile id 12 --duration 5s     runs and time of one",
            "  sonde bpf prog run pinned /sys/fs/bpf/filter data_in packet.bin repeat 1000",
            "  sonde bpf prog pin id 12 /sys/fs/bpf/filter"
        })
final class BpfProgCommand implements Callable<Integer> {
    private static final List<String> ACTIONS =
            List.of("list", "show", "dump", "profile", "run", "pin");

    @Spec private CommandSpec spec;

    @Parameters(
            arity = "1..*",
            paramLabel = "list|show|dump|profile|run|pin",
            description = "then: id NUMBER, name NAME, tag TAG, or pinned PATH")
    private List<String> words;

    @Option(names = "--duration", defaultValue = "1s", description = "of profile")
    private String duration;

    @Option(names = "--json", description = "as JSON, with bpftool's keys")
    private boolean json;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    BpfProgCommand() {
        words = List.of();
        duration = "1s";
    }

    @Override
    public Integer call() throws Exception {
        CommandLine line = spec.commandLine();
        String action = BpfActions.check(words, ACTIONS, line).getFirst();
        List<String> rest = words.subList(1, words.size());
        if (action.equals("dump")) {
            return BpfProgDump.run(rest, json, line);
        }
        if (rest.isEmpty() && (action.equals("list") || action.equals("show"))) {
            return list(new Inventory(Holders.now()).programs());
        }
        List<Program> programs = BpfTarget.of(rest, line).programs();
        try {
            return switch (action) {
                case "profile" ->
                        BpfProgProfile.run(
                                programs, Durations.nanos(duration, line), json, line.getOut());
                case "run" ->
                        BpfProgTestRun.run(
                                programs.getFirst(), rest.subList(2, rest.size()), json, line);
                case "pin" -> BpfPins.pin(rest, programs.getFirst().fd(), line);
                default -> show(programs);
            };
        } finally {
            programs.forEach(Program::close);
        }
    }

    private int show(List<Program> programs) throws Exception {
        Inventory inventory = new Inventory(Holders.now());
        List<Map<String, Object>> rows = new ArrayList<>();
        for (Program program : programs) {
            rows.add(inventory.program(program));
        }
        return rows.size() == 1
                ? BpfRows.show(rows.getFirst(), json, spec.commandLine().getOut())
                : list(rows);
    }

    private int list(List<Map<String, Object>> rows) throws Exception {
        return BpfRows.list(
                "programs",
                rows,
                List.of("id", "type", "name", "tag", "bytes_xlated"),
                json,
                spec.commandLine().getOut());
    }
}
