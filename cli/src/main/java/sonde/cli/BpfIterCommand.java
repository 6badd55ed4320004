package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.bpf.AttachType;
import sonde.bpf.BpfMap;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;
import sonde.bpf.ProgramType;
import sonde.bpf.inventory.Types;
import sonde.bpf.link.KernelIterator;
import sonde.bpf.link.KernelTypes;
import sonde.bpf.object.LoadOptions;
import sonde.bpf.object.LoadedObject;
import sonde.bpf.object.ObjectFile;
import sonde.bpf.object.ObjectProgram;
import sonde.format.btf.Btf;
import sonde.format.btf.BtfType;
import sonde.view.Escape;

/** {@code sonde bpf iter}. */
@Command(
        name = "iter",
        mixinStandardHelpOptions = true,
        description = {
            "Lists the kinds of objects that this kernel lets programs go through; runs such a"
                    + " program, or pins it as a file that runs it when it is read."
        },
        footer = {
            "",
            "run and pin take an object with such a program, or the kind and the program's text;",
            "--map for iterators over a map.",
            "",
            "Examples:",
            "  sonde bpf iter list",
            "  sonde bpf iter run tasks.bpf.o",
            "  sonde bpf iter pin tasks.bpf.o /sys/fs/bpf/tasks         then: cat /sys/fs/bpf/tasks",
            "  sonde bpf iter run task tasks.asm",
            "  sonde bpf iter pin task tasks.asm /sys/fs/bpf/tasks"
        })
final class BpfIterCommand implements Callable<Integer> {
    private static final String PREFIX = "bpf_iter_";
    private static final int MOST_BYTES = 64 << 20;

    @Spec private CommandSpec spec;

    @Parameters(
            arity = "1..*",
            paramLabel = "list|run|pin",
            description = "then OBJECT [PATH], or KIND FILE [PATH]")
    private List<String> words;

    @Option(names = "--map", paramLabel = "ID", description = "the map it goes through")
    private int map = -1;

    @Option(
            names = "--only",
            paramLabel = "PROGRAM",
            description = "this program of an object with several iterators")
    private @Nullable String only;

    @Option(names = "--json", description = "as JSON")
    private boolean json;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    BpfIterCommand() {
        words = List.of();
    }

    @Override
    public Integer call() throws Exception {
        CommandLine line = spec.commandLine();
        String action = BpfActions.check(words, List.of("list", "run", "pin"), line).getFirst();
        PrintWriter out = line.getOut();
        if (action.equals("list")) {
            List<String> kinds = kinds();
            if (json) {
                out.print(BpfJson.of(kinds));
            } else {
                kinds.forEach(out::println);
            }
            out.flush();
            return ExitCode.DONE;
        }
        String path = action.equals("pin") ? words.getLast() : "";
        List<String> rest = words.subList(1, words.size() - (path.isEmpty() ? 0 : 1));
        boolean isObject = rest.size() == 1 && BpfWords.isElf(Path.of(rest.getFirst()));
        if (!isObject && rest.size() != 2) {
            throw new ParameterException(
                    line,
                    "say an object, or the kind and the file"
                            + (path.isEmpty() ? "" : ", and the path"));
        }
        if (isObject) {
            ObjectFile object = BpfObjectArguments.read(List.of(Path.of(rest.getFirst())));
            String name = iterator(object, line);
            LoadOptions options = LoadOptions.USUAL;
            for (ObjectProgram one : object.programs()) {
                options = options.withProgram(one.name(), one.name().equals(name));
            }
            try (LoadedObject loaded = object.load(options)) {
                use(loaded.program(name), path);
            }
            return ExitCode.DONE;
        }
        Path file = Path.of(rest.get(1));
        ProgramSpec program = BpfPrograms.read(file, ProgramType.TRACING).getFirst().spec();
        try (KernelTypes types = KernelTypes.open();
                Program loaded =
                        Program.load(
                                program.targeting(
                                        AttachType.TRACE_ITER, types.iterator(rest.getFirst())))) {
            use(loaded, path);
        }
        return ExitCode.DONE;
    }

    /** Pins it, or prints what it writes where no path is given. */
    private void use(Program program, String path) throws IOException {
        try (KernelIterator iterator = attach(program)) {
            if (!path.isEmpty()) {
                iterator.link().pin(path);
                return;
            }
            System.out.write(iterator.read(MOST_BYTES));
            System.out.flush();
        }
    }

    /** The program meant: that named, or the only one. */
    private String iterator(ObjectFile object, CommandLine line) {
        List<String> names =
                object.programs().stream()
                        .filter(one -> one.sectionName().matches("\\??iter(\\.s)?/.*"))
                        .map(ObjectProgram::name)
                        .toList();
        String wanted = only;
        if (wanted == null ? names.size() == 1 : names.contains(wanted)) {
            return wanted == null ? names.getFirst() : wanted;
        }
        throw new ParameterException(
                line,
                names.isEmpty()
                        ? object.name() + " has no iterator: no section is called iter/KIND"
                        : "say which with --only: " + object.name() + " has " + names);
    }

    private KernelIterator attach(Program program) throws IOException {
        if (map < 0) {
            return KernelIterator.of(program);
        }
        try (BpfMap through = BpfMap.openId(map)) {
            return KernelIterator.ofMap(program, through);
        }
    }

    /** Functions {@code bpf_iter_KIND(struct bpf_iter_meta *meta, ...)} of the kernel. */
    private static List<String> kinds() throws IOException {
        Btf btf = Types.kernel();
        TreeSet<String> kinds = new TreeSet<>();
        for (int id = btf.firstId(); id < btf.end(); id++) {
            if (btf.type(id) instanceof BtfType.Func function
                    && function.name().startsWith(PREFIX)
                    && btf.type(function.type()) instanceof BtfType.FuncProto proto
                    && !proto.params().isEmpty()
                    && btf.type(proto.returnType()) instanceof BtfType.Int
                    && btf.type(proto.params().getFirst().type()) instanceof BtfType.Ptr pointer
                    && btf.type(pointer.type()).name().equals("bpf_iter_meta")) {
                kinds.add(Escape.line(function.name().substring(PREFIX.length())));
            }
        }
        return List.copyOf(kinds);
    }
}
