package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.Callable;
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
            "run and pin take the kind, and the program's text; --map for iterators over a map.",
            "",
            "Examples:",
            "  sonde bpf iter list",
            "  sonde bpf iter run task tasks.asm",
            "  sonde bpf iter pin task tasks.asm /sys/fs/bpf/tasks      then: cat /sys/fs/bpf/tasks"
        })
final class BpfIterCommand implements Callable<Integer> {
    private static final String PREFIX = "bpf_iter_";
    private static final int MOST_BYTES = 64 << 20;

    @Spec private CommandSpec spec;

    @Parameters(arity = "1..*", paramLabel = "list|run|pin", description = "then KIND FILE [PATH]")
    private List<String> words;

    @Option(names = "--map", paramLabel = "ID", description = "the map it goes through")
    private int map = -1;

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
        boolean pin = action.equals("pin");
        if (words.size() != (pin ? 4 : 3)) {
            throw new ParameterException(
                    line, "say the kind, the file" + (pin ? ", the path" : ""));
        }
        Path file = Path.of(words.get(2));
        ProgramSpec program = BpfPrograms.read(file, ProgramType.TRACING).getFirst().spec();
        try (KernelTypes types = KernelTypes.open();
                Program loaded =
                        Program.load(
                                program.targeting(
                                        AttachType.TRACE_ITER, types.iterator(words.get(1))));
                KernelIterator iterator = attach(loaded)) {
            if (pin) {
                iterator.link().pin(words.get(3));
                return ExitCode.DONE;
            }
            System.out.write(iterator.read(MOST_BYTES));
            System.out.flush();
        }
        return ExitCode.DONE;
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
