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
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.BtfType;
import sonde.bpf.BpfMap;
import sonde.bpf.BpfRefusedException;
import sonde.bpf.Link;
import sonde.bpf.LinkCloser;
import sonde.bpf.MapType;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;
import sonde.bpf.VerifierException;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.object.KernelBtfs.ModuleBtf;
import sonde.bpf.object.ObjectBtf.LoadedTypes;
import sonde.bpf.object.ObjectFunction.FunctionReference;
import sonde.bpf.object.ObjectFunction.FunctionReference.FunctionPointer;
import sonde.bpf.object.ObjectFunction.FunctionStart;
import sonde.bpf.object.ProgramSection.AttachWay;
import sonde.sys.Fd;
import sonde.sys.SyscallException;

/**
 * Brings an object into the kernel. Everything that can be known before is found out first, so that
 * what an object lacks is told before anything is made; then types, maps, values, programs.
 */
final class ObjectLoader {
    /** NR_OPEN_DEFAULT: as many descriptors has the table of a process at first. */
    private static final int FIRST_DESCRIPTORS = 64;

    private static final int MOST_DESCRIPTORS = 4096;

    /** Those of the JVM, of sections of variables, and some more. */
    private static final int DESCRIPTORS_BESIDES = 24;

    private final ObjectFile object;
    private final LoadOptions options;
    private final Deque<AutoCloseable> made = new ArrayDeque<>();
    private final List<ObjectProgram> wanted = new ArrayList<>();
    private final Map<FunctionStart, ObjectFunction> needed = new LinkedHashMap<>();
    private final Map<FunctionStart, FunctionFit> fits = new HashMap<>();
    private final TracepointNumbers tracepoints = new TracepointNumbers();

    /** An entry with everything but descriptors. */
    private record ProgramDraft(
            ObjectProgram program,
            ProgramSection section,
            ProgramAssembly assembly,
            ProgramGoal goal) {}

    /** Types of the object in the kernel, and what each program says of itself by them. */
    private record Described(
            ObjectBtf.@Nullable LoadedTypes types,
            Map<ProgramDraft, DebugRecords> records,
            boolean areNeeded) {
        ProgramSpec.@Nullable Debug of(ProgramDraft draft) {
            DebugRecords found = records.get(draft);
            return types == null || found == null ? null : found.debug(types.btf().fd(), areNeeded);
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
        Thread descriptors = reserveDescriptors();
        try {
            return loadNow();
        } finally {
            finish(descriptors);
        }
    }

    /** Where there will be many, on a thread of its own: it waits while programs are made ready. */
    private @Nullable Thread reserveDescriptors() {
        int programs = object.programs().size();
        int most =
                Math.min(
                        2 * programs + object.maps().size() + DESCRIPTORS_BESIDES,
                        MOST_DESCRIPTORS);
        return most <= FIRST_DESCRIPTORS
                ? null
                : Thread.ofPlatform().name("descriptors").start(() -> Fd.reserve(most));
    }

    private static void finish(@Nullable Thread thread) {
        boolean interrupted = false;
        while (thread != null && thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private LoadedObject loadNow() throws IOException {
        try (KernelBtfs kernel = new KernelBtfs(options.btf())) {
            List<ProgramDraft> drafts = drafts(kernel);
            ExternValues externs = ExternValues.resolve(object, kernel);
            kernel.forget();
            return load(drafts, new ReferenceLinker(object, externs), externs.settings());
        } catch (IOException | RuntimeException e) {
            LinkCloser.all(made);
            throw e;
        }
    }

    private List<ProgramDraft> drafts(KernelBtfs kernel) throws IOException {
        for (ObjectProgram program : object.programs()) {
            boolean isWanted =
                    options.wanted().getOrDefault(program.name(), program.isLoadedByDefault());
            if (isWanted) {
                wanted.add(program);
                for (ObjectFunction one :
                        ProgramAssembly.reachable(object, object.entry(program.name()))) {
                    needed.put(new FunctionStart(one.section(), one.start()), one);
                }
            }
        }
        fits.putAll(FunctionFit.all(object, needed.values(), kernel));
        GoalFinder goals = new GoalFinder(object, options, kernel);
        List<ProgramDraft> drafts = new ArrayList<>();
        for (ObjectProgram program : wanted) {
            ProgramSection section = goals.section(program);
            if (section.way() == AttachWay.TRACEPOINT) {
                tracepoints.learn(section.target());
                Link.prepare();
            }
            ProgramAssembly assembly =
                    ProgramAssembly.of(object, object.entry(program.name()), fits);
            drafts.add(new ProgramDraft(program, section, assembly, goals.goal(program, section)));
        }
        return drafts;
    }

    private LoadedObject load(List<ProgramDraft> drafts, ReferenceLinker linker, byte[] settings)
            throws IOException {
        // Once without descriptors: what is to be known and compiled is, before the kernel is
        // asked.
        for (ProgramDraft draft : drafts) {
            linker.link(draft.assembly(), Map.of(), Map.of(), null);
        }
        Described described = described(drafts);
        LoadedTypes types = described.types();
        MapMaker maker = new MapMaker(object, options, made, types == null ? null : types.btf());
        Map<String, BpfMap> maps = maker.maps();
        Map<String, BpfMap> data = maker.data();
        BpfMap settingsMap = maker.settings(settings);
        if (settingsMap != null) {
            data.put(TypeFixes.CONFIG_SECTION, settingsMap);
        }
        Map<String, BpfMap> places = new HashMap<>(data);
        String arena = maker.variablesInArena();
        if (arena != null) {
            places.put(GlobalSection.IN_ARENA, maps.get(arena));
        }
        Map<String, Program> programs = new LinkedHashMap<>();
        for (ProgramDraft draft : drafts) {
            linker.link(draft.assembly(), maps, places, settingsMap);
            Program program = load(draft, described.of(draft), linker.modules(draft.assembly()));
            made.push(program);
            programs.put(draft.program().name(), program);
        }
        maker.fill(maps, programs);
        if (types != null) {
            types.btf().close();
        }
        return new LoadedObject(object, programs, maps, data, maker.arenas(), tracepoints, made);
    }

    private Described described(List<ProgramDraft> drafts) throws IOException {
        boolean areNeeded = areTypesNeeded();
        if (object.types().size() <= 1) {
            return new Described(null, Map.of(), areNeeded);
        }
        ObjectBtf whole = new ObjectBtf(object.types(), new ArrayList<>(needed.values()));
        Map<ProgramDraft, DebugRecords> records = records(drafts, whole);
        LoadedTypes types = loadTypes(whole, areNeeded);
        if (types != null && types.types() != whole) {
            records = records(drafts, types.types());
        }
        return new Described(types, records, areNeeded);
    }

    private static Map<ProgramDraft, DebugRecords> records(
            List<ProgramDraft> drafts, ObjectBtf types) {
        Map<ProgramDraft, DebugRecords> all = new IdentityHashMap<>();
        for (ProgramDraft draft : drafts) {
            DebugRecords records = DebugRecords.of(draft.assembly(), types);
            if (records != null) {
                all.put(draft, records);
            }
        }
        return all;
    }

    private ObjectBtf.@Nullable LoadedTypes loadTypes(ObjectBtf whole, boolean areNeeded)
            throws IOException {
        try {
            LoadedTypes types = whole.load();
            made.push(types.btf());
            return types;
        } catch (BpfRefusedException e) {
            if (e.barrier() == BpfRefusedException.Barrier.UNSUPPORTED) {
                return null; // before 4.18
            }
            throw e;
        } catch (SyscallException e) {
            // gcc 12 writes types that no kernel takes; most programs do without.
            if (areNeeded) {
                throw e;
            }
            return null;
        }
    }

    private Program load(
            ProgramDraft draft, ProgramSpec.@Nullable Debug debug, List<ModuleBtf> modules)
            throws IOException {
        ProgramSection section = draft.section();
        ProgramAssembly assembly = draft.assembly();
        ProgramSpec spec =
                new ProgramSpec(
                                draft.program().name(),
                                section.type(),
                                ProgramCode.of(assembly.words))
                        .targeting(section.attach(), draft.goal().btfId(), draft.goal().owner())
                        .with(section.flags())
                        .with(options.log())
                        .licensed(object.license());
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
            throw assembly.reached(e);
        }
    }

    /** Whether programs cannot be loaded without: they have callbacks, or maps that ask for it. */
    private boolean areTypesNeeded() {
        return needed().anyMatch(one -> one instanceof FunctionPointer)
                || object.maps().stream().anyMatch(ObjectLoader::needsTypes);
    }

    private Stream<FunctionReference> needed() {
        return needed.values().stream().flatMap(one -> one.references().values().stream());
    }

    private static boolean needsTypes(ObjectMap map) {
        MapType type = MapType.of(map.type());
        return type != null && type.isLocalStorage();
    }
}
