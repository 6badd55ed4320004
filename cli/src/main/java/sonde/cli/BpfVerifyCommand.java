package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;
import sonde.bpf.ProgramType;
import sonde.bpf.VerifierException;
import sonde.bpf.object.LoadOptions;
import sonde.bpf.object.LoadedObject;
import sonde.bpf.object.ObjectException;
import sonde.bpf.object.ObjectFile;
import sonde.bpf.object.ObjectProgram;
import sonde.bpf.verifier.Explainer;
import sonde.bpf.verifier.Explanation;

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
    @Spec private CommandSpec spec;

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
        PrintWriter out = spec.commandLine().getOut();
        BpfVerdicts verdicts = new BpfVerdicts(log, json, out);
        ProgramSpec.Log amount = log ? ProgramSpec.Log.EVERYTHING : ProgramSpec.Log.STATISTICS;
        if (BpfWords.isElf(from)) {
            ObjectFile object = BpfObjectArguments.read(List.of(from));
            LoadOptions options = LoadOptions.USUAL.with(amount);
            verify(object, btf == null ? options : options.withBtf(btf), verdicts);
        } else {
            verify(BpfPrograms.read(from, programType(type, spec.commandLine())), amount, verdicts);
        }
        if (json) {
            out.print(BpfJson.of(verdicts.rows()));
        }
        out.flush();
        return verdicts.status();
    }

    /** Each program by itself, so that one's fault does not hide another's. */
    private void verify(ObjectFile object, LoadOptions options, BpfVerdicts verdicts)
            throws IOException {
        List<String> names = BpfObjectArguments.chosen(object, only, spec.commandLine());
        LoadOptions none = options;
        for (ObjectProgram one : object.programs()) {
            none = none.withProgram(one.name(), false);
        }
        for (String name : names) {
            try (LoadedObject loaded = object.load(none.withProgram(name, true))) {
                verdicts.accepted(name, loaded.program(name));
            } catch (VerifierException e) {
                verdicts.refused(name, "", e.explanation(), e.log());
            } catch (ObjectException e) {
                if (e.getCause() instanceof VerifierException verifier) {
                    verdicts.missing(name, e.getMessage(), verifier);
                } else {
                    verdicts.unseen(name, String.valueOf(e.getMessage()));
                }
            }
        }
    }

    private void verify(
            List<BpfPrograms.Named> programs, ProgramSpec.Log amount, BpfVerdicts verdicts)
            throws IOException {
        try (BpfLoadable loadable = BpfLoadable.of(maps, attach, spec.commandLine())) {
            for (BpfPrograms.Named one : programs) {
                ProgramSpec asked =
                        loadable.prepare(one.spec())
                                .with(sleepable ? ProgramSpec.SLEEPABLE : 0)
                                .licensed(license)
                                .with(amount);
                try (Program program = Program.load(asked)) {
                    verdicts.accepted(one.name(), program);
                } catch (VerifierException e) {
                    Explanation explanation =
                            one.sources().isEmpty()
                                    ? e.explanation()
                                    : Explainer.explain(e.log(), asked.code(), one.sources());
                    verdicts.refused(one.name(), asked.type().kernelName(), explanation, e.log());
                }
            }
        }
    }

    static ProgramType programType(String name, CommandLine line) {
        for (ProgramType one : ProgramType.values()) {
            if (one.kernelName().equals(name)) {
                return one;
            }
        }
        throw new ParameterException(
                line, "no type of program is called " + name + "; 'sonde bpf feature' lists them");
    }
}
