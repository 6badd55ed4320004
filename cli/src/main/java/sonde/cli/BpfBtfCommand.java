package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.bpf.BpfMap;
import sonde.bpf.MapFacts;
import sonde.bpf.Program;
import sonde.bpf.inventory.Holders;
import sonde.bpf.inventory.Inventory;
import sonde.bpf.inventory.Types;
import sonde.format.btf.Btf;
import sonde.format.btf.CHeader;
import sonde.sys.Errno;
import sonde.sys.SyscallException;
import sonde.tools.report.NothingMatchesException;

/** {@code sonde bpf btf}. */
@Command(
        name = "btf",
        mixinStandardHelpOptions = true,
        description = "Lists BTF objects, or dumps types: of the kernel, a file, a program, a map.",
        footer = {
            "",
            "dump takes: id NUMBER | file PATH | prog id NUMBER | map id NUMBER [key|value] | name",
            "NAME, a type of the running kernel with its offsets; then 'format raw' (usual), or 'format"
                    + " c'; 'root_id N' for one type and what it needs; 'member NAME' behind name.",
            "",
            "Examples:",
            "  sonde bpf btf list",
            "  sonde bpf btf dump name task_struct                 members, offsets, sizes",
            "  sonde bpf btf dump name task_struct member pid",
            "  sonde bpf btf dump file /sys/kernel/btf/vmlinux format c > vmlinux.h",
            "  sonde bpf btf dump prog id 12",
            "  sonde bpf btf dump map name counts value format c"
        })
final class BpfBtfCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Parameters(arity = "1..*", paramLabel = "list|dump", description = "then what, see below")
    private List<String> words;

    @Option(
            names = {"-B", "--base-btf"},
            paramLabel = "FILE",
            description = "BTF that a split one refers to; for modules it is vmlinux")
    private @Nullable Path base;

    @Option(names = "--json", description = "as JSON, with bpftool's keys")
    private boolean json;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    BpfBtfCommand() {
        words = List.of();
    }

    /**
     * What is to be dumped.
     *
     * @param roots ids to begin with; empty for all
     * @param used words taken
     */
    private record Chosen(Btf btf, List<Integer> roots, int used) {}

    @Override
    public Integer call() throws Exception {
        CommandLine line = spec.commandLine();
        String action = BpfActions.check(words, List.of("list", "show", "dump"), line).getFirst();
        PrintWriter out = line.getOut();
        if (!action.equals("dump")) {
            return BpfRows.list(
                    "types",
                    new Inventory(Holders.now()).types(),
                    List.of("id", "name", "size", "prog_ids", "map_ids"),
                    json,
                    out);
        }
        List<String> rest = words.subList(1, words.size());
        if (rest.size() < 2) {
            throw new ParameterException(line, "say what: id, file, prog, map or name");
        }
        return rest.getFirst().equals("name") ? named(rest, out) : dump(chosen(rest, line), rest);
    }

    /** A type of the running kernel. */
    private int named(List<String> rest, PrintWriter out) throws IOException {
        Btf btf = Types.kernel();
        String name = rest.get(1);
        int id = BtfOffsets.find(btf, name);
        if (id == 0) {
            throw new NothingMatchesException("this kernel has no type called " + name);
        }
        String form = after(rest, "format", "offsets");
        if (!form.equals("offsets")) {
            return dump(new Chosen(btf, List.of(id), 2), rest);
        }
        BtfOffsets offsets = new BtfOffsets(btf, json, out);
        boolean found = offsets.print(id, after(rest, "member", ""));
        out.flush();
        if (!found) {
            throw new NothingMatchesException(
                    name + " has no member called " + after(rest, "member", ""));
        }
        return ExitCode.DONE;
    }

    private static String after(List<String> rest, String word, String otherwise) {
        int at = rest.indexOf(word);
        return at >= 0 && at + 1 < rest.size() ? rest.get(at + 1) : otherwise;
    }

    private int dump(Chosen chosen, List<String> rest) throws IOException {
        List<String> options = rest.subList(chosen.used(), rest.size());
        PrintWriter out = spec.commandLine().getOut();
        List<Integer> roots = new ArrayList<>(chosen.roots());
        String root = after(options, "root_id", "");
        if (!root.isEmpty()) {
            if (!root.matches("[0-9]{1,8}")) {
                throw new ParameterException(spec.commandLine(), "'" + root + "' is no number");
            }
            roots.add(Integer.parseInt(root));
        }
        switch (after(options, "format", "raw")) {
            case "c" -> CHeader.writeFile(chosen.btf(), roots, out);
            case "raw" -> new BtfRaw(chosen.btf(), json, out).write(roots);
            default -> throw new ParameterException(spec.commandLine(), "formats are raw and c");
        }
        out.flush();
        return ExitCode.DONE;
    }

    private Chosen chosen(List<String> rest, CommandLine line) throws IOException {
        String value = rest.get(1);
        switch (rest.getFirst()) {
            case "id" -> {
                if (!value.matches("[0-9]{1,9}")) {
                    throw new ParameterException(line, "'" + value + "' is no number");
                }
                return new Chosen(loaded(Integer.parseInt(value)), List.of(), 2);
            }
            case "file" -> {
                Path path = Path.of(value);
                Path under = base;
                Btf btf = under == null ? Types.ofFile(path) : Types.ofFile(path, under);
                return new Chosen(btf, List.of(), 2);
            }
            case "prog" -> {
                List<Program> programs =
                        BpfTarget.of(rest.subList(1, rest.size()), line).programs();
                try {
                    int id = programs.getFirst().facts().btfId();
                    return new Chosen(typesOf(id, "program"), List.of(), 3);
                } finally {
                    programs.forEach(Program::close);
                }
            }
            case "map" -> {
                try (BpfMap map = BpfTarget.of(rest.subList(1, rest.size()), line).map(line)) {
                    MapFacts facts = map.facts();
                    List<Integer> roots =
                            switch (rest.size() > 3 ? rest.get(3) : "") {
                                case "key" -> List.of(facts.keyType());
                                case "value" -> List.of(facts.valueType());
                                case "all" -> List.of();
                                default -> List.of(facts.keyType(), facts.valueType());
                            };
                    return new Chosen(typesOf(facts.btfId(), "map"), roots, 3);
                }
            }
            default -> throw new ParameterException(line, "say what: id, file, prog, map or name");
        }
    }

    private Btf typesOf(int id, String what) throws IOException {
        if (id == 0) {
            throw new NothingMatchesException("that " + what + " has no BTF");
        }
        return loaded(id);
    }

    private static Btf loaded(int id) throws IOException {
        try {
            return Types.ofId(id);
        } catch (SyscallException e) {
            if (e.errno() == Errno.ENOENT) {
                throw new NothingMatchesException("there is no BTF with id " + id);
            }
            throw e;
        }
    }
}
