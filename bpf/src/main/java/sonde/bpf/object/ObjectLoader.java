package sonde.bpf.object;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.bpf.BpfMap;
import sonde.bpf.BpfRefusedException;
import sonde.bpf.Closing;
import sonde.bpf.MapType;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;
import sonde.bpf.VerifierException;
import sonde.bpf.core.CoreRelocator;
import sonde.bpf.core.Types;
import sonde.bpf.insn.Code;
import sonde.bpf.object.Function.Reference;
import sonde.format.MalformedInputException;
import sonde.format.btf.BtfType;
import sonde.sys.SyscallException;

/**
 * Brings an object into the kernel. Everything that can be known before is found out first, so that
 * what an object lacks is told before anything is made; then types, maps, values, programs.
 */
final class ObjectLoader {
    // Source register of 64-bit constants: enum of include/uapi/linux/bpf.h.
    private static final int PSEUDO_MAP_FD = 1;
    private static final int PSEUDO_MAP_VALUE = 2;
    private static final int PSEUDO_BTF_ID = 3;
    private static final int PSEUDO_KFUNC_CALL = 2;

    /** Weak functions that are missing, from here on; libbpf's number. */
    private static final int MISSING_FUNCTION = 2_002_000_000;

    private static final Pattern POISONED =
            Pattern.compile("(\\d{1,7}): \\(85\\) call unknown#(\\d{9,10})");

    private final ObjectFile object;
    private final LoadOptions options;
    private final Deque<AutoCloseable> made = new ArrayDeque<>();
    private final List<ObjectProgram> wanted = new ArrayList<>();
    private final Map<Function.Place, Function> needed = new LinkedHashMap<>();
    private final Map<Function.Place, FunctionFit> fits = new HashMap<>();

    /** An entry with everything but descriptors. */
    private record Draft(
            ObjectProgram program, ProgramSection section, ProgramAssembly assembly, Goal goal) {}

    /**
     * What a program is for.
     *
     * @param owner of the id: a module's types or a program; 0 for the kernel
     */
    private record Goal(int btfId, int owner) {}

    /** func_info and line_info of a program. */
    private record Records(byte[] functions, byte[] lines) {
        ProgramSpec.Debug debug(int btfFd, boolean needed) {
            return new ProgramSpec.Debug(btfFd, functions, 8, lines, 16, needed);
        }
    }

    ObjectLoader(ObjectFile object, LoadOptions options) {
        this.object = object;
        this.options = options;
    }

    /** The type of an id of an object. */
    static BtfType type(List<BtfType> types, int id) throws MalformedInputException {
        if (id < 0 || id >= types.size()) {
            throw new MalformedInputException(
                    "BTF", "type id", -1, Integer.toUnsignedString(id) + " of " + types.size());
        }
        return types.get(id);
    }

    LoadedObject load() throws IOException {
        try (RunningKernel kernel = new RunningKernel(options.btf())) {
            List<Draft> drafts = drafts(kernel);
            ExternValues externs = ExternValues.resolve(object, kernel);
            return load(drafts, externs);
        } catch (IOException | RuntimeException e) {
            Closing.all(made);
            throw e;
        }
    }

    private List<Draft> drafts(RunningKernel kernel) throws IOException {
        for (ObjectProgram program : object.programs()) {
            boolean isWanted =
                    options.wanted().getOrDefault(program.name(), program.isLoadedByDefault());
            if (isWanted) {
                wanted.add(program);
                for (Function one :
                        ProgramAssembly.reachable(object, object.entry(program.name()))) {
                    needed.put(new Function.Place(one.section(), one.start()), one);
                }
            }
        }
        fit(kernel);
        List<Draft> drafts = new ArrayList<>();
        for (ObjectProgram program : wanted) {
            ProgramSection section = section(program);
            ProgramAssembly assembly =
                    ProgramAssembly.of(object, object.entry(program.name()), fits);
            drafts.add(new Draft(program, section, assembly, goal(program, section, kernel)));
        }
        return drafts;
    }

    private void fit(RunningKernel kernel) throws IOException {
        boolean any = needed.values().stream().anyMatch(one -> !one.core().isEmpty());
        if (!any) {
            return;
        }
        Types local = id -> type(object.types(), id);
        CoreRelocator relocator = new CoreRelocator(local, hasTypes(kernel) ? kernel : null);
        for (Map.Entry<Function.Place, Function> one : needed.entrySet()) {
            if (!one.getValue().core().isEmpty()) {
                fits.put(one.getKey(), FunctionFit.of(one.getValue(), relocator, object.place()));
            }
        }
    }

    /** A kernel without types is told as missing where something is needed of them. */
    private boolean hasTypes(RunningKernel kernel) throws IOException {
        try {
            return kernel.kernel().end() > 1;
        } catch (BpfRefusedException e) {
            return false;
        }
    }

    private ObjectException.Place place(ObjectProgram program) {
        return object.place().section(program.sectionName()).symbol(program.name());
    }

    private ProgramSection section(ObjectProgram program) throws ObjectException {
        ProgramSection section = program.section();
        if (section == null) {
            throw new ObjectException(
                    place(program),
                    "no kind of program has that section name; known are "
                            + String.join(", ", ProgramSection.known()));
        }
        if (section.way() == ProgramSection.Way.STRUCT_OPS) {
            throw new ObjectException(
                    place(program), "structures of functions (struct_ops) are not loaded");
        }
        return section;
    }

    private Goal goal(ObjectProgram program, ProgramSection section, RunningKernel kernel)
            throws IOException {
        if (section.way() == ProgramSection.Way.REPLACEMENT) {
            Program of = options.replaced().get(program.name());
            if (of == null) {
                throw new ObjectException(
                        place(program), "the program whose function it replaces is not given");
            }
            return new Goal(ReplacedFunction.find(of, section.target()), of.fd());
        }
        if (!section.namesKernelType() || section.target().isEmpty()) {
            if (section.namesKernelType()) {
                throw new ObjectException(
                        place(program), "the section does not name what it is for");
            }
            return new Goal(0, 0);
        }
        String name =
                switch (section.way()) {
                    case TYPED_TRACEPOINT -> "btf_trace_" + section.target();
                    case SECURITY_HOOK, CGROUP_SECURITY_HOOK -> "bpf_lsm_" + section.target();
                    case ITERATOR -> "bpf_iter_" + section.target();
                    default -> section.target();
                };
        boolean typedef = section.way() == ProgramSection.Way.TYPED_TRACEPOINT;
        Class<? extends BtfType> kind = typedef ? BtfType.Typedef.class : BtfType.Func.class;
        int colon = name.indexOf(':');
        String module = colon < 0 || typedef ? "" : name.substring(0, colon);
        String plain = module.isEmpty() ? name : name.substring(colon + 1);
        if (module.isEmpty() || module.equals("vmlinux")) {
            int id = kernel.vmlinux().btf().find(plain, kind::isInstance);
            if (id != 0) {
                return new Goal(id, 0);
            }
        }
        for (RunningKernel.Module one : kernel.moduleTypes()) {
            int id = one.btf().find(plain, kind::isInstance);
            if (id >= one.btf().firstId() && (module.isEmpty() || module.equals(one.name()))) {
                return new Goal(id, one.types().fd());
            }
        }
        throw new ObjectException(
                place(program), "this kernel's BTF has no " + plain + ", which the section names");
    }

    private LoadedObject load(List<Draft> drafts, ExternValues externs) throws IOException {
        // Once without descriptors: what is to be known and compiled is, before the kernel is
        // asked.
        for (Draft draft : drafts) {
            link(draft, Map.of(), Map.of(), null, externs);
        }
        ProgramTypes.@Nullable Loaded types = null;
        Map<Draft, Records> records = Map.of();
        if (object.types().size() > 1) {
            ProgramTypes whole = new ProgramTypes(object.types(), new ArrayList<>(needed.values()));
            records = records(drafts, whole);
            types = loadTypes(whole);
            if (types != null && types.types() != whole) {
                records = records(drafts, types.types());
            }
        }
        boolean typesNeeded = areTypesNeeded();
        MapMaker maker = new MapMaker(object, options, made, types == null ? null : types.btf());
        Map<String, BpfMap> maps = maker.maps();
        Map<String, BpfMap> data = maker.data();
        BpfMap settings = maker.settings(externs.settings());
        Map<String, Program> programs = new LinkedHashMap<>();
        for (Draft draft : drafts) {
            link(draft, maps, data, settings, externs);
            Records of = types == null ? null : records.get(draft);
            Program program =
                    load(
                            draft,
                            types == null || of == null
                                    ? null
                                    : of.debug(types.btf().fd(), typesNeeded),
                            externs);
            made.push(program);
            programs.put(draft.program().name(), program);
        }
        maker.fill(maps, programs);
        if (types != null) {
            types.btf().close();
        }
        return new LoadedObject(object, programs, maps, data, made);
    }

    private static Map<Draft, Records> records(List<Draft> drafts, ProgramTypes types) {
        Map<Draft, Records> all = new IdentityHashMap<>();
        for (Draft draft : drafts) {
            byte[] functions = draft.assembly().functionRecords();
            if (functions.length > 0) {
                all.put(draft, new Records(functions, draft.assembly().lineRecords(types)));
            }
        }
        return all;
    }

    private ProgramTypes.@Nullable Loaded loadTypes(ProgramTypes whole) throws IOException {
        try {
            ProgramTypes.Loaded types = whole.load();
            made.push(types.btf());
            return types;
        } catch (BpfRefusedException e) {
            if (e.barrier() == BpfRefusedException.Barrier.UNSUPPORTED) {
                return null; // before 4.18
            }
            throw e;
        } catch (SyscallException e) {
            // gcc 12 writes types that no kernel takes; most programs do without.
            if (areTypesNeeded()) {
                throw e;
            }
            return null;
        }
    }

    /** Puts descriptors and addresses into the instructions. */
    private void link(
            Draft draft,
            Map<String, BpfMap> maps,
            Map<String, BpfMap> data,
            @Nullable BpfMap settings,
            ExternValues externs) {
        ProgramAssembly code = draft.assembly();
        List<RunningKernel.Module> modules = modules(code, externs);
        code.references.forEach((slot, reference) -> {
            switch (reference) {
                case Reference.MapOf one ->
                        wide(code, slot, PSEUDO_MAP_FD, fd(maps, one.map().name()), 0);
                case Reference.DataOf one -> {
                    int fd = fd(data, one.data().section());
                    wide(code, slot, PSEUDO_MAP_VALUE, fd, one.offset());
                }
                case Reference.Outside one -> outside(code, slot, one.target(), settings, externs);
                case Reference.CallOutside one -> call(code, slot, one.target(), modules, externs);
                case Reference.CallOf _, Reference.AddressOf _ -> {}
            }
        });
    }

    private static int fd(Map<String, BpfMap> maps, String name) {
        BpfMap map = maps.get(name);
        return map == null ? -1 : map.fd();
    }

    /** The modules whose functions a program calls, in the order of their slots. */
    private static List<RunningKernel.Module> modules(ProgramAssembly code, ExternValues externs) {
        List<RunningKernel.Module> modules = new ArrayList<>();
        for (Reference reference : code.references.values()) {
            if (reference instanceof Reference.CallOutside call
                    && externs.found(call.target()) instanceof ExternValues.Found.Typed typed
                    && typed.module() != null
                    && !modules.contains(typed.module())) {
                modules.add(typed.module());
            }
        }
        return modules;
    }

    private static void wide(ProgramAssembly code, int slot, int source, int low, int high) {
        code.words[slot] = code.words[slot] & 0x0fffL | (long) source << 12 | (long) low << 32;
        code.words[slot + 1] = (long) high << 32;
    }

    private void outside(
            ProgramAssembly code,
            int slot,
            Extern extern,
            @Nullable BpfMap settings,
            ExternValues externs) {
        if (extern.kind() == Extern.Kind.CONFIG) {
            int at = object.fixes().configOffsets().getOrDefault(extern.name(), 0);
            wide(code, slot, PSEUDO_MAP_VALUE, settings == null ? -1 : settings.fd(), at);
            return;
        }
        switch (externs.found(extern)) {
            case ExternValues.Found.Missing _ -> wide(code, slot, 0, 0, 0);
            case ExternValues.Found.Address one ->
                    wide(code, slot, 0, (int) one.address(), (int) (one.address() >>> 32));
            case ExternValues.Found.Typed one -> {
                RunningKernel.Module module = one.module();
                int fd = module == null ? 0 : module.types().fd();
                wide(code, slot, PSEUDO_BTF_ID, one.id(), fd);
            }
        }
    }

    private void call(
            ProgramAssembly code,
            int slot,
            Extern extern,
            List<RunningKernel.Module> modules,
            ExternValues externs) {
        if (externs.found(extern) instanceof ExternValues.Found.Typed one) {
            RunningKernel.Module module = one.module();
            int index = module == null ? 0 : modules.indexOf(module) + 1;
            code.words[slot] =
                    0x85L
                            | PSEUDO_KFUNC_CALL << 12
                            | (long) (index & 0xffff) << 16
                            | (long) one.id() << 32;
            return;
        }
        code.words[slot] = FunctionFit.poison(MISSING_FUNCTION + code.missing.size());
        code.missing.put(
                slot,
                new ProgramAssembly.Origin(
                        code.origin(slot),
                        "the weak function " + extern.name() + " is not in this kernel"));
    }

    private Program load(Draft draft, ProgramSpec.@Nullable Debug debug, ExternValues externs)
            throws IOException {
        ProgramSection section = draft.section();
        ProgramAssembly assembly = draft.assembly();
        ProgramSpec spec =
                new ProgramSpec(draft.program().name(), section.type(), Code.of(assembly.words))
                        .targeting(section.attach(), draft.goal().btfId(), draft.goal().owner())
                        .with(section.flags())
                        .with(options.log())
                        .licensed(object.license());
        List<RunningKernel.Module> modules = modules(assembly, externs);
        if (!modules.isEmpty()) {
            List<Integer> fds = new ArrayList<>(List.of(0));
            modules.forEach(module -> fds.add(module.types().fd()));
            spec = spec.calling(fds);
        }
        if (debug != null) {
            spec = spec.with(debug);
        }
        try {
            return Program.load(spec);
        } catch (VerifierException e) {
            throw reached(draft, e);
        }
    }

    /** Whether programs cannot be loaded without: they have callbacks, or maps that ask for it. */
    private boolean areTypesNeeded() {
        return needed().anyMatch(one -> one instanceof Reference.AddressOf)
                || object.maps().stream().anyMatch(ObjectLoader::needsTypes);
    }

    private java.util.stream.Stream<Reference> needed() {
        return needed.values().stream().flatMap(one -> one.references().values().stream());
    }

    private static boolean needsTypes(ObjectMap map) {
        MapType type = MapType.of(map.type());
        return type != null && type.isLocalStorage();
    }

    /** A refusal of an instruction that stands for something missing is told as that. */
    private static IOException reached(Draft draft, VerifierException failure) {
        if (draft.assembly().missing.isEmpty()) {
            return failure;
        }
        ProgramAssembly.Origin origin = null;
        Matcher matcher = POISONED.matcher(failure.log());
        while (matcher.find()) {
            ProgramAssembly.Origin one =
                    draft.assembly().missing.get(Integer.parseInt(matcher.group(1)));
            origin = one == null ? origin : one;
        }
        return origin == null
                ? failure
                : new ObjectException(origin.place(), origin.problem(), failure);
    }
}
