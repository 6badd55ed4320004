package sonde.cli;

import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import sonde.tools.bpf.VerifyRecipe;

/** {@code sonde bpf verify}. */
@Command(
        name = "verify",
        mixinStandardHelpOptions = true,
        description = {
            "Has the kernel's verifier look at the programs of FILE, attaches nothing, and explains"
                    + " what it refuses: the instruction and its source line, where the register"
                    + " came from, why, and what usually helps. FILE is an object of clang or gcc,"
                    + " text as 'asm' reads it, or instructions."
        },
        footer = {
            "",
            "Examples:",
            "  sonde bpf verify counter.bpf.o             each program of an object",
            "  sonde bpf verify counter.bpf.o --only on_open --log",
            "  sonde bpf verify filter.asm --type xdp",
            "  sonde bpf verify count.asm --type kprobe --map 3=hash,4,8,1024",
            "  sonde bpf verify next.asm --type tracing --attach tp_btf:sched_switch",
            "  sonde bpf verify filter.bin --log          and the verifier's own words",
            "",
            "Exit status: 0 accepted, 1 refused, 3 the kernel did not look at it, 4 FILE is no"
                    + " program."
        })
final class BpfVerifyCommand implements Callable<Integer> {
    @Parameters(
            paramLabel = "FILE",
            description = "object, text, instructions, or - for standard input")
    private @Nullable Path file;

    @Option(
            names = "--type",
            paramLabel = "TYPE",
            description = "of the program (default ${DEFAULT-VALUE}); 'sonde bpf feature' has all")
    private String type = "socket_filter";

    @Option(
            names = "--attach",
            paramLabel = "KIND:NAME",
            description = "what it is for: tp_btf, fentry, fexit, fmod_ret, lsm or iter")
    private @Nullable String attach;

    @Option(
            names = "--map",
            paramLabel = "N=TYPE,KEY,VALUE,ENTRIES",
            description = "a map for map[fd:N], made for the time being")
    private @Nullable List<String> maps;

    @Option(
            names = "--only",
            paramLabel = "PROGRAM",
            description = "this program of an object; may be given several times")
    private @Nullable List<String> only;

    @Option(
            names = "--btf",
            paramLabel = "FILE",
            description = "fit an object to these types, not to the running kernel's")
    private @Nullable Path btf;

    @Option(names = "--sleepable", description = "it may sleep (BPF_F_SLEEPABLE)")
    private boolean sleepable;

    @Option(
            names = "--license",
            paramLabel = "TEXT",
            description = "of the program (default ${DEFAULT-VALUE})")
    private String license = "GPL";

    @Option(names = "--log", description = "print the verifier's log too")
    private boolean log;

    @Option(names = "--json", description = "as JSON")
    private boolean json;

    BpfVerifyCommand() {
        // picocli fills the options
    }

    @Override
    public Integer call() throws Exception {
        Path from = Objects.requireNonNull(file);
        VerifyRecipe recipe =
                new VerifyRecipe(
                        new VerifyRecipe.Request(
                                from, type, attach, maps, only, btf, sleepable, license, log));
        Shown.onOut(recipe.result(), json);
        return switch (recipe.outcome()) {
            case ACCEPTED -> ExitCode.DONE;
            case REFUSED -> ExitCode.NEGATIVE;
            case UNSEEN -> ExitCode.IMPOSSIBLE;
        };
    }
}
