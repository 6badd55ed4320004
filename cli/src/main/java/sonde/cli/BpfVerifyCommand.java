package sonde.cli;

import java.nio.file.Path;
import java.util.List;
import sonde.tools.bpf.VerifyRecipe;
import sonde.tools.bpf.VerifyRecipe.VerifyRequest;
import sonde.tools.option.GivenOptions;
import sonde.view.TextEscape;

/** {@code sonde bpf verify}. */
final class BpfVerifyCommand {
    static final String MODEL =
            """
            sonde bpf verify [OPTIONS] FILE

            Explain what the kernel's verifier says of programs. It loads the programs of FILE and
            attaches nothing. For what it refuses it shows the instruction and its source line,
            where the register came from, why, and what usually helps. FILE is an object of clang or
            gcc, text as 'sonde bpf asm' reads it, or instructions.

            Arguments:
              FILE            object, text, instructions, or - for standard input

            Options:
              --type TYPE     the program type; 'sonde bpf feature' lists all (default
                              socket_filter)
              --attach-to KIND:NAME
                              the attach target of a tracing program: tp_btf, fentry, fexit,
                              fmod_ret, lsm or iter
              --map N=TYPE,KEY,VALUE,ENTRIES
                              create a map for map[fd:N] while the verifier runs (repeatable)
              --only PROGRAM  verify this program of an object only (repeatable); needed for
                              programs of SEC("?...") beside others
              --map-entries NAME=N
                              give this map of an object room for N entries (repeatable)
              --btf FILE      relocate the object to these types, not to those of the running kernel
              --sleepable     the program may sleep (BPF_F_SLEEPABLE)
              --license TEXT  the program's license (default GPL)
              --log           also print the verifier's log
              --json          print JSON

            Old spellings:
              --attach = --attach-to

            Examples:
              sonde bpf verify counter.bpf.o             each program of an object
              sonde bpf verify counter.bpf.o --only on_open --log
              sonde bpf verify filter.asm --type xdp
              sonde bpf verify count.asm --type kprobe --map 3=hash,4,8,1024
              sonde bpf verify next.asm --type tracing --attach-to tp_btf:sched_switch
              sonde bpf verify filter.bin --log          and the verifier's own words

            Exit status:
              0 accepted, 1 refused, 3 the kernel did not look at it, 4 FILE is not a program
            """;

    private BpfVerifyCommand() {}

    static int run(CommandCall call) throws Exception {
        GivenOptions given = call.given();
        List<String> maps = given.texts("--map");
        List<String> only = given.texts("--only");
        VerifyRecipe recipe =
                new VerifyRecipe(
                        new VerifyRequest(
                                Path.of(given.words().getFirst()),
                                given.text("--type", "socket_filter"),
                                given.text("--attach-to"),
                                maps.isEmpty() ? null : maps,
                                only.isEmpty() ? null : only,
                                given.path("--btf"),
                                given.has("--sleepable"),
                                given.text("--license", "GPL"),
                                given.has("--log"),
                                given.texts("--map-entries")));
        ResultPrinter.onOut(recipe.result(), call.json());
        recipe.left()
                .forEach(name ->
                        call.say(
                                "not verified: "
                                        + TextEscape.line(name)
                                        + ", which is loaded only when asked for (--only)"));
        return switch (recipe.outcome()) {
            case ACCEPTED -> ExitCode.DONE;
            case REFUSED -> ExitCode.NEGATIVE;
            case UNSEEN -> ExitCode.IMPOSSIBLE;
        };
    }
}
