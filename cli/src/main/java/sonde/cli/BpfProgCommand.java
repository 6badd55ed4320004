package sonde.cli;

import java.util.List;
import sonde.bpf.Program;
import sonde.tools.bpf.InventoryRecipe;
import sonde.tools.bpf.ObjectName;
import sonde.tools.bpf.ProgramDump;
import sonde.tools.bpf.ProgramProfile;
import sonde.tools.bpf.ProgramTestRun;

/** {@code sonde bpf prog}. */
final class BpfProgCommand {
    static final String MODEL =
            """
            sonde bpf prog [OPTIONS] ACTION [PROGRAM] [WHAT...]

            List programs; show, dump, measure, run or pin some.

            Arguments:
              ACTION          list, show, dump, profile, run or pin
              [WHAT...]       id NUMBER, name NAME, tag TAG, or pinned PATH

            Options:
              --duration TIME
                              profile measures for this long (default 1s)
              --json          print JSON with the keys of bpftool

            Actions:
              'dump xlated' prints the instructions as the verifier left them, 'dump jited' the
              machine code; 'opcodes', 'linum' and 'file PATH' may follow. 'run' takes data_in FILE,
              ctx_in FILE (or hex:0011), data_out FILE, repeat N.

            Examples:
              sonde bpf prog list
              sonde bpf prog show name sonde_count --json
              sonde bpf prog dump xlated id 12 linum
              sonde bpf prog dump jited name sonde_count opcodes
              sonde bpf prog profile id 12 --duration 5s     runs and time of one
              sonde bpf prog run pinned /sys/fs/bpf/filter data_in packet.bin repeat 1000
              sonde bpf prog pin id 12 /sys/fs/bpf/filter
            """;

    private static final List<String> ACTIONS =
            List.of("list", "show", "dump", "profile", "run", "pin");

    private BpfProgCommand() {}

    static int run(CommandCall call) throws Exception {
        List<String> words = call.given().words();
        String action = BpfActions.check(words, ACTIONS).getFirst();
        List<String> rest = words.subList(1, words.size());
        if (action.equals("dump")) {
            return ResultPrinter.onOutIfAny(
                    new ProgramDump(rest).run(), call.json(), ExitCode.DONE);
        }
        if (rest.isEmpty() && (action.equals("list") || action.equals("show"))) {
            return ResultPrinter.onOut(InventoryRecipe.programs(), call.json());
        }
        List<Program> programs = ObjectName.of(rest).programs();
        try {
            return switch (action) {
                case "profile" -> {
                    long nanos = call.given().nanos("--duration").orElseThrow();
                    yield ResultPrinter.onOut(ProgramProfile.of(programs, nanos), call.json());
                }
                case "run" -> {
                    ProgramTestRun run = new ProgramTestRun(rest.subList(2, rest.size()));
                    yield ResultPrinter.onOut(run.run(programs.getFirst()), call.json());
                }
                case "pin" -> {
                    ObjectName.pin(rest, programs.getFirst().fd());
                    yield ExitCode.DONE;
                }
                default -> ResultPrinter.onOut(InventoryRecipe.programs(programs), call.json());
            };
        } finally {
            programs.forEach(Program::close);
        }
    }
}
