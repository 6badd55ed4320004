package sonde.bpf.object;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;
import sonde.binary.btf.BtfType;
import sonde.binary.btf.BtfWriter;
import sonde.bpf.BpfMap;
import sonde.bpf.LinkCloser;
import sonde.bpf.ProgramSpec;
import sonde.bpf.VerifierException;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.object.KernelBtfs.ModuleBtf;
import sonde.bpf.object.ObjectBtf.LoadedTypes;
import sonde.bpf.object.ObjectFunction.FunctionReference.FunctionPointer;
import sonde.bpf.object.ObjectFunction.FunctionStart;

/** A {@link FunctionLibrary} with its maps in the kernel; closing gives them back. */
public final class LoadedLibrary implements AutoCloseable {
    private final FunctionLibrary library;
    private final Map<FunctionStart, FunctionFit> fits;
    private final ReferenceLinker linker;
    private final List<BtfType> types;
    private final Map<String, BpfMap> maps;
    private final Map<String, BpfMap> places;
    private final @Nullable BpfMap settings;
    private final Deque<AutoCloseable> open;

    /**
     * A program with the functions that it calls behind it.
     *
     * @param modules descriptors for {@link ProgramSpec#calling}; empty for none
     * @param types those of the object, where the program's own are added behind
     * @param functions struct bpf_func_info of the functions, in the order of their slots
     * @param lines struct bpf_line_info of the functions, as functions
     */
    public record LinkedCode(
            ProgramCode code,
            List<Integer> modules,
            BtfWriter types,
            byte[] functions,
            byte[] lines,
            boolean needsTypes,
            RefusalExplainer refusal) {
        /** What to say of the verifier's no: what the kernel lacks, where that is the cause. */
        public interface RefusalExplainer {
            IOException of(VerifierException failure);
        }
    }

    private LoadedLibrary(
            FunctionLibrary library,
            Map<FunctionStart, FunctionFit> fits,
            ReferenceLinker linker,
            LoadedTypes types,
            MapMaker maker,
            byte[] settings,
            Deque<AutoCloseable> open)
            throws IOException {
        this.library = library;
        this.fits = fits;
        this.linker = linker;
        this.types = types.types().types();
        this.open = open;
        maps = maker.maps();
        places = maker.data();
        this.settings = maker.settings(settings);
        String arena = maker.variablesInArena();
        if (arena != null) {
            places.put(GlobalSection.IN_ARENA, maps.get(arena));
        }
        maker.fill(maps, Map.of());
    }

    static LoadedLibrary load(FunctionLibrary library, List<ObjectFunction> roots)
            throws IOException {
        ObjectFile object = library.object();
        Deque<AutoCloseable> made = new ArrayDeque<>();
        try {
            KernelBtfs kernel = new KernelBtfs(null);
            made.push(kernel);
            List<ObjectFunction> needed = ProgramAssembly.reachable(object, roots);
            Map<FunctionStart, FunctionFit> fits = FunctionFit.all(object, needed, kernel);
            ExternValues externs = ExternValues.resolve(object, kernel);
            kernel.forget();
            LoadedTypes types = new ObjectBtf(types(object), needed).load();
            made.push(types.btf());
            return new LoadedLibrary(
                    library,
                    fits,
                    new ReferenceLinker(object, externs),
                    types,
                    new MapMaker(object, LoadOptions.USUAL, made, types.btf()),
                    externs.settings(),
                    made);
        } catch (IOException | RuntimeException e) {
            LinkCloser.all(made);
            throw e;
        }
    }

    /**
     * All functions are static: the verifier then looks at each with what it is called with, and
     * not with anything that its types would allow.
     */
    private static List<BtfType> types(ObjectFile object) {
        return object.types().stream()
                .map(type ->
                        type instanceof BtfType.Func f
                                ? new BtfType.Func(f.name(), BtfType.Linkage.STATIC, f.type())
                                : type)
                .toList();
    }

    /**
     * Puts functions behind a program.
     *
     * @param words of the program
     * @param calls names of functions by the slot of the call
     */
    public LinkedCode join(long[] words, SortedMap<Integer, String> calls) throws IOException {
        Set<ObjectFunction> roots = new LinkedHashSet<>();
        for (String name : calls.values()) {
            roots.add(library.function(name));
        }
        ObjectFile object = library.object();
        List<ObjectFunction> functions = ProgramAssembly.reachable(object, List.copyOf(roots));
        ProgramAssembly assembly = ProgramAssembly.of(object, words, functions, fits);
        for (Map.Entry<Integer, String> call : calls.entrySet()) {
            assembly.call(call.getKey(), library.function(call.getValue()));
        }
        linker.link(assembly, maps, places, settings);
        List<Integer> modules = new ArrayList<>();
        for (ModuleBtf module : linker.modules(assembly)) {
            modules.add(module.types().fd());
        }
        if (!modules.isEmpty()) {
            modules.addFirst(0); // unused: no module is number 0
        }
        ObjectBtf own = new ObjectBtf(types, functions);
        boolean callbacks =
                functions.stream()
                        .flatMap(one -> one.references().values().stream())
                        .anyMatch(FunctionPointer.class::isInstance);
        return new LinkedCode(
                ProgramCode.of(assembly.words),
                modules,
                own.writer(),
                assembly.functionRecords(),
                assembly.lineRecords(own),
                callbacks,
                assembly::reached);
    }

    @Override
    public void close() {
        LinkCloser.all(open);
    }
}
