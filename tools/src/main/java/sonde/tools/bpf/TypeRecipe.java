package sonde.tools.bpf;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.binary.btf.Btf;
import sonde.binary.btf.CHeader;
import sonde.bpf.BpfMap;
import sonde.bpf.MapFacts;
import sonde.bpf.Program;
import sonde.bpf.inventory.BtfSources;
import sonde.event.result.Listing;
import sonde.event.result.Listing.ListingLines;
import sonde.event.result.Result;
import sonde.sys.Errno;
import sonde.sys.SyscallException;
import sonde.tools.report.NothingMatchesException;

/**
 * {@code sonde bpf btf dump}.
 *
 * @param words {@code id NUMBER}, {@code file PATH}, {@code prog id NUMBER}, {@code map id NUMBER
 *     value} or {@code name NAME}; then {@code format raw|c}, {@code root_id N}, {@code member
 *     NAME}
 * @param base BTF that a split one refers to
 */
public record TypeRecipe(List<String> words, @Nullable Path base) {
    private static final String WHAT = "say what: id, file, prog, map or name";

    /** Says which words are wanted. */
    public TypeRecipe {
        if (words.size() < 2) {
            throw new BpfUseException(WHAT);
        }
    }

    /**
     * What is to be dumped.
     *
     * @param roots ids to begin with; empty for all
     * @param used words taken
     */
    private record Chosen(Btf btf, List<Integer> roots, int used) {}

    /** The types meant. */
    public Result run() throws IOException {
        return words.getFirst().equals("name") ? named(words.get(1)) : dump(chosen());
    }

    /** A type of the running kernel. */
    private Result named(String name) throws IOException {
        Btf btf = BtfSources.kernel();
        int id = TypeOffsets.find(btf, name);
        if (id == 0) {
            throw new NothingMatchesException("this kernel has no type called " + name);
        }
        if (!after(words, "format", "offsets").equals("offsets")) {
            return dump(new Chosen(btf, List.of(id), 2));
        }
        String member = after(words, "member", "");
        return new TypeOffsets(btf)
                .of(id, member)
                .orElseThrow(() ->
                        new NothingMatchesException(name + " has no member called " + member));
    }

    private static String after(List<String> rest, String word, String otherwise) {
        int at = rest.indexOf(word);
        return at >= 0 && at + 1 < rest.size() ? rest.get(at + 1) : otherwise;
    }

    private Result dump(Chosen chosen) {
        List<String> options = words.subList(chosen.used(), words.size());
        List<Integer> roots = new ArrayList<>(chosen.roots());
        String root = after(options, "root_id", "");
        if (!root.isEmpty()) {
            roots.add(number(root, 8));
        }
        return switch (after(options, "format", "raw")) {
            case "c" -> {
                ListingLines header = out -> CHeader.writeFile(chosen.btf(), roots, out);
                yield Listing.ofLines(header);
            }
            case "raw" -> new TypeDump(chosen.btf(), roots).result();
            default -> throw new BpfUseException("formats are raw and c");
        };
    }

    private static int number(String digits, int most) {
        if (!digits.matches("[0-9]{1," + most + "}")) {
            throw new BpfUseException("'" + digits + "' is not a number");
        }
        return Integer.parseInt(digits);
    }

    private Chosen chosen() throws IOException {
        String value = words.get(1);
        return switch (words.getFirst()) {
            case "id" -> new Chosen(loaded(number(value, 9)), List.of(), 2);
            case "file" -> {
                Path path = Path.of(value);
                Path under = base;
                Btf btf = under == null ? BtfSources.ofFile(path) : BtfSources.ofFile(path, under);
                yield new Chosen(btf, List.of(), 2);
            }
            case "prog" -> {
                List<Program> programs = object().programs();
                try {
                    int id = programs.getFirst().facts().btfId();
                    yield new Chosen(typesOf(id, "program"), List.of(), 3);
                } finally {
                    programs.forEach(Program::close);
                }
            }
            case "map" -> {
                try (BpfMap map = object().map()) {
                    MapFacts facts = map.facts();
                    List<Integer> roots =
                            switch (words.size() > 3 ? words.get(3) : "") {
                                case "key" -> List.of(facts.keyType());
                                case "value" -> List.of(facts.valueType());
                                case "all" -> List.of();
                                default -> List.of(facts.keyType(), facts.valueType());
                            };
                    yield new Chosen(typesOf(facts.btfId(), "map"), roots, 3);
                }
            }
            default -> throw new BpfUseException(WHAT);
        };
    }

    private ObjectName object() {
        return ObjectName.of(words.subList(1, words.size()));
    }

    private static Btf typesOf(int id, String what) throws IOException {
        if (id == 0) {
            throw new NothingMatchesException("that " + what + " has no BTF");
        }
        return loaded(id);
    }

    private static Btf loaded(int id) throws IOException {
        try {
            return BtfSources.ofId(id);
        } catch (SyscallException e) {
            if (e.errno() == Errno.ENOENT) {
                throw new NothingMatchesException("there is no BTF with id " + id);
            }
            throw e;
        }
    }
}
