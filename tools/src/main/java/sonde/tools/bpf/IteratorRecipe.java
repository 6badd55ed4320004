package sonde.tools.bpf;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfType;
import sonde.bpf.AttachType;
import sonde.bpf.BpfMap;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;
import sonde.bpf.ProgramType;
import sonde.bpf.inventory.BtfSources;
import sonde.bpf.link.KernelIterator;
import sonde.bpf.link.KernelTypes;
import sonde.bpf.object.LoadOptions;
import sonde.bpf.object.LoadedObject;
import sonde.bpf.object.ObjectFile;
import sonde.bpf.object.ObjectProgram;
import sonde.event.result.Document;
import sonde.event.result.Listing;
import sonde.event.result.Result;
import sonde.view.TextEscape;

/**
 * {@code sonde bpf iter}: programs that go through the kernel's objects.
 *
 * @param words an object, or the kind and the program's file
 * @param map id of the map it goes through; -1 for none
 * @param only the program of an object with several iterators
 * @param pin where it becomes a file; empty to run it
 */
public record IteratorRecipe(List<String> words, int map, @Nullable String only, String pin) {
    private static final String PREFIX = "bpf_iter_";
    private static final int MOST_BYTES = 64 << 20;

    /** The kinds of objects that this kernel lets programs go through. */
    public static Result kinds() throws IOException {
        Btf btf = BtfSources.kernel();
        TreeSet<String> kinds = new TreeSet<>();
        for (int id = btf.firstId(); id < btf.end(); id++) {
            if (btf.type(id) instanceof BtfType.Func function
                    && function.name().startsWith(PREFIX)
                    && btf.type(function.type()) instanceof BtfType.FuncProto proto
                    && !proto.params().isEmpty()
                    && btf.type(proto.returnType()) instanceof BtfType.Int
                    && btf.type(proto.params().getFirst().type()) instanceof BtfType.Ptr pointer
                    && btf.type(pointer.type()).name().equals("bpf_iter_meta")) {
                kinds.add(TextEscape.line(function.name().substring(PREFIX.length())));
            }
        }
        return Document.of(kinds, Listing.ofLines(out -> kinds.forEach(out::println)));
    }

    /** The bytes that the program writes; none when it was pinned. */
    public Optional<byte[]> run() throws IOException {
        boolean isObject = words.size() == 1 && ProgramFile.isElf(Path.of(words.getFirst()));
        if (!isObject && words.size() != 2) {
            throw new BpfUseException(
                    "say an object, or the kind and the file"
                            + (pin.isEmpty() ? "" : ", and the path"));
        }
        if (isObject) {
            ObjectFile object = ObjectRecipe.read(List.of(Path.of(words.getFirst())));
            String name = iterator(object);
            LoadOptions options = LoadOptions.USUAL;
            for (ObjectProgram one : object.programs()) {
                options = options.withProgram(one.name(), one.name().equals(name));
            }
            try (LoadedObject loaded = object.load(options)) {
                return use(loaded.program(name));
            }
        }
        Path file = Path.of(words.get(1));
        ProgramSpec program = NamedPrograms.read(file, ProgramType.TRACING).getFirst().spec();
        try (KernelTypes types = KernelTypes.open();
                Program loaded =
                        Program.load(
                                program.targeting(
                                        AttachType.TRACE_ITER, types.iterator(words.getFirst())))) {
            return use(loaded);
        }
    }

    private Optional<byte[]> use(Program program) throws IOException {
        try (KernelIterator iterator = attach(program)) {
            if (!pin.isEmpty()) {
                iterator.link().pin(pin);
                return Optional.empty();
            }
            return Optional.of(iterator.read(MOST_BYTES));
        }
    }

    /** The program meant: that named, or the only one. */
    private String iterator(ObjectFile object) {
        List<String> names =
                object.programs().stream()
                        .filter(one -> one.sectionName().matches("\\??iter(\\.s)?/.*"))
                        .map(ObjectProgram::name)
                        .toList();
        String wanted = only;
        if (wanted == null ? names.size() == 1 : names.contains(wanted)) {
            return wanted == null ? names.getFirst() : wanted;
        }
        throw new BpfUseException(
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
}
