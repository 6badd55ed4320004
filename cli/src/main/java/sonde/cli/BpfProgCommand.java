package sonde.cli;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.bpf.Program;
import sonde.tools.bpf.InventoryRecipe;
import sonde.tools.bpf.ObjectName;
import sonde.tools.bpf.ProgramDump;
import sonde.tools.bpf.ProgramProfile;
import sonde.tools.bpf.ProgramTestRun;

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
            return Shown.onOutIfAny(new ProgramDump(rest).run(), json, ExitCode.DONE);
        }
        if (rest.isEmpty() && (action.equals("list") || action.equals("show"))) {
            return Shown.onOut(InventoryRecipe.programs(), json);
        }
        List<Program> programs = ObjectName.of(rest).programs();
        try {
            return switch (action) {
                case "profile" -> {
                    long nanos = Durations.nanos(duration, line);
                    yield Shown.onOut(ProgramProfile.of(programs, nanos), json);
                }
                case "run" -> {
                    ProgramTestRun run = new ProgramTestRun(rest.subList(2, rest.size()));
                    yield Shown.onOut(run.run(programs.getFirst()), json);
                }
                case "pin" -> {
                    ObjectName.pin(rest, programs.getFirst().fd());
                    yield ExitCode.DONE;
                }
                default -> Shown.onOut(InventoryRecipe.programs(programs), json);
            };
        } finally {
            programs.forEach(Program::close);
        }
    }
}
