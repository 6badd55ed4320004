package sonde.lang.bpftrace.run;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import sonde.binary.btf.BtfWriter;
import sonde.bpf.BpfMap;
import sonde.bpf.LoadedBtf;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;
import sonde.bpf.VerifierException;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.map.ByteMap;
import sonde.bpf.object.FunctionLibrary;
import sonde.bpf.object.LoadedLibrary;
import sonde.bpf.object.LoadedLibrary.LinkedCode;
import sonde.lang.bpftrace.lower.MapPlan;
import sonde.lang.bpftrace.lower.ScriptLosses;
import sonde.lang.bpftrace.lower.ScriptUnit;
import sonde.lang.ir.Assembly;
import sonde.lang.ir.Assembly.ProgramRecords;
import sonde.lang.probes.LoadNeeds;
import sonde.lang.probes.LoadNeeds.OpenTarget;
import sonde.probe.stack.UserStackFunction;
import sonde.probe.stack.UserStackFunction.CallingProgram;
import sonde.sys.MachineFacts;
import sonde.sys.SyscallException;

/** A script's maps and programs in the kernel; gone when this is closed. */
public final class LoadedScript implements AutoCloseable {
    private static final String FRAMES = ".frames";
    private static final byte[] FIRST = new byte[4];
    private static final UserStackFunction FRAME_POINTERS = UserStackFunction.framePointers("");

    private final PreparedScript script;
    private final Map<String, ByteMap> maps = new HashMap<>();
    private final Map<PreparedProgram, Program> programs = new LinkedHashMap<>();
    private final List<LoadedBtf> types = new ArrayList<>();
    private final ScriptLosses losses;
    private @Nullable LoadedLibrary library;
    private UserStackFunction stacks = FRAME_POINTERS;
    private final List<String> refused = new ArrayList<>();

    private LoadedScript(PreparedScript script) {
        this.script = script;
        losses = new ScriptLosses(script.unit());
    }

    /**
     * Loads all.
     *
     * @throws LoadException when the kernel refuses a program
     */
    public static LoadedScript load(PreparedScript script) throws IOException, LoadException {
        LoadedScript loaded = new LoadedScript(script);
        try {
            loaded.makeMaps(RingSize.bytes(script.configuration()));
            loaded.loadFunctions();
            for (List<? extends PreparedProgram> alternatives : script.ranked()) {
                loaded.loadFirst(alternatives);
            }
            return loaded;
        } catch (IOException | LoadException | RuntimeException e) {
            loaded.close();
            throw e;
        }
    }

    private void makeMaps(long ringBytes) throws IOException {
        ScriptUnit unit = script.unit();
        for (MapPlan plan : unit.maps().values()) {
            if (!plan.isKeptByTracer()) {
                make(plan.name(), plan.spec());
            }
        }
        make(ScriptUnit.RING, new MapSpec("ring", MapType.RING_BUFFER, 0, 0, (int) ringBytes));
        make(
                ScriptUnit.CONTROL,
                new MapSpec("control", MapType.RING_BUFFER, 0, 0, ScriptUnit.CONTROL_BYTES));
        if (unit.hasPackets()) {
            make(
                    ScriptUnit.PACKETS,
                    new MapSpec("packets", MapType.PERF_EVENT_ARRAY, 4, 4, cpus()));
        }
        byte[] shared = unit.shared();
        single(ScriptUnit.SHARED, shared.length).put(FIRST, shared);
        single(ScriptUnit.ENDED, 8);
        if (unit.frameBytes() > 0) {
            single(FRAMES, unit.frameBytes());
        }
        byte[] texts = unit.texts();
        if (texts.length > 0) {
            ByteMap map =
                    make(
                            ScriptUnit.TEXTS,
                            new MapSpec("texts", MapType.ARRAY, 4, texts.length, 1)
                                    .with(MapSpec.READ_ONLY_IN_PROGRAMS));
            map.put(FIRST, texts);
            map.map().freeze();
        }
    }

    private ByteMap single(String name, int sizeBytes) throws IOException {
        return make(name, new MapSpec(name.substring(1), MapType.ARRAY, 4, sizeBytes, 1));
    }

    private ByteMap make(String name, MapSpec spec) throws IOException {
        ByteMap map = new ByteMap(BpfMap.create(spec));
        maps.put(name, map);
        return map;
    }

    private void loadFirst(List<? extends PreparedProgram> alternatives)
            throws IOException, LoadException {
        LoadException last = null;
        for (PreparedProgram program : alternatives) {
            try {
                programs.put(program, load(program));
                return;
            } catch (LoadException e) {
                last = e;
            }
        }
        if (last != null) {
            throw last;
        }
    }

    private void loadFunctions() throws IOException {
        Set<String> called = new TreeSet<>();
        for (List<? extends PreparedProgram> alternatives : script.ranked()) {
            alternatives.forEach(one -> called.addAll(one.imported().values()));
        }
        if (called.remove(ScriptUnit.USER_STACK)) {
            stacks = unwinder();
        }
        FunctionLibrary functions = script.library();
        if (functions != null && !called.isEmpty()) {
            library = functions.load(called);
        }
    }

    private static UserStackFunction unwinder() {
        try {
            return UserStackFunction.unwinder();
        } catch (IOException e) {
            return UserStackFunction.framePointers(String.valueOf(e.getMessage()));
        }
    }

    /** With an unwinder of user stacks behind it, if it wants one and the kernel takes it. */
    private Program load(PreparedProgram program) throws IOException, LoadException {
        try {
            return load(program, stacks);
        } catch (LoadException e) {
            boolean calls = program.imported().containsValue(ScriptUnit.USER_STACK);
            if (!calls || !(e.why() instanceof VerifierException)) {
                throw e;
            }
            Program loaded = load(program, FRAME_POINTERS);
            refused.add(e.program().group().first().name());
            return loaded;
        }
    }

    private Program load(PreparedProgram program, UserStackFunction unwinder)
            throws IOException, LoadException {
        LoadNeeds needs = LoadNeeds.of(program.group());
        ProgramCode code = program.code(new LoadedSymbols());
        SortedMap<Integer, String> imported = new TreeMap<>(program.imported());
        Set<Integer> stackCalls = new TreeSet<>();
        imported.forEach((slot, name) -> {
            if (name.equals(ScriptUnit.USER_STACK)) {
                stackCalls.add(slot);
            }
        });
        imported.keySet().removeAll(stackCalls);
        LoadedLibrary functions = library;
        // With functions in C behind it.
        LinkedCode joined =
                functions == null || imported.isEmpty()
                        ? null
                        : functions.join(code.words(), imported);
        BtfWriter added = joined == null ? new BtfWriter() : joined.types();
        CallingProgram unwound = null;
        if (joined != null) {
            code = joined.code();
        }
        if (!stackCalls.isEmpty()) {
            unwound = unwinder.join(code, stackCalls, added);
            code = unwound.code();
        }
        ProgramSpec spec =
                needs.spec(program.kernelName(), code).licensed(script.configuration().license());
        if (joined != null) {
            spec = spec.calling(joined.modules());
        }
        try (OpenTarget target = needs.target()) {
            ProgramSpec.Debug debug =
                    joined == null && unwound == null
                            ? debug(program)
                            : debug(program, added, joined, unwound);
            return Program.load(target.of(spec.with(debug)));
        } catch (VerifierException e) {
            throw new LoadException(program, joined == null ? e : joined.refusal().of(e));
        } catch (IOException e) {
            throw new LoadException(program, e);
        }
    }

    /** Null when a function in C has no types. */
    private ProgramSpec.@Nullable Debug debug(
            PreparedProgram program,
            BtfWriter added,
            @Nullable LinkedCode joined,
            @Nullable CallingProgram unwound)
            throws IOException {
        if (joined != null && joined.functions().length == 0) {
            return null;
        }
        ProgramRecords own = program.records(added);
        LoadedBtf btf = LoadedBtf.load(added.bytes());
        types.add(btf);
        byte[] functions = own.functions();
        byte[] lines = own.lines();
        boolean hasLines = true;
        if (joined != null) {
            functions = both(functions, joined.functions());
            lines = both(lines, joined.lines());
            hasLines = joined.lines().length > 0;
        }
        if (unwound != null) {
            functions = both(functions, unwound.functions());
            lines = both(lines, unwound.lines());
        }
        return new ProgramSpec.Debug(
                btf.fd(),
                functions,
                8,
                hasLines ? lines : new byte[0],
                16,
                unwound != null || program.needsDebug() || joined != null && joined.needsTypes());
    }

    private static byte[] both(byte[] first, byte[] second) {
        byte[] all = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, all, first.length, second.length);
        return all;
    }

    private ProgramSpec.Debug debug(PreparedProgram program) throws IOException {
        LoadedBtf btf = LoadedBtf.load(program.btf());
        types.add(btf);
        return new ProgramSpec.Debug(
                btf.fd(),
                program.functionRecords(),
                8,
                program.lineRecords(),
                16,
                program.needsDebug());
    }

    /** Descriptors and ids that the code refers to by name. */
    private final class LoadedSymbols implements Assembly.AssemblySymbols {
        @Override
        public int map(String name) {
            ByteMap map = maps.get(name);
            if (map == null) {
                throw new IllegalStateException("no map " + name);
            }
            return map.map().fd();
        }

        @Override
        public int function(String kernelFunction) {
            return script.kernelFunction(kernelFunction);
        }
    }

    /** What was loaded. */
    PreparedScript script() {
        return script;
    }

    /** Programs by what they were compiled from, in the order of the script. */
    Map<PreparedProgram, Program> programs() {
        return programs;
    }

    /** Whether there is a ring for packets. */
    boolean hasPackets() {
        return maps.containsKey(ScriptUnit.PACKETS);
    }

    /** A map of the script, or of the tracer. */
    ByteMap map(String name) {
        ByteMap map = maps.get(name);
        if (map == null) {
            throw new IllegalStateException("no map " + name);
        }
        return map;
    }

    /** What was lost so far; read at least every second for {@link ScriptLosses} to be exact. */
    ScriptLosses losses() throws SyscallException {
        byte @Nullable [] value = map(ScriptUnit.SHARED).get(FIRST);
        if (value != null) {
            losses.read(ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN));
        }
        return losses;
    }

    /** What unwinds user stacks. */
    UserStackFunction stacks() {
        return stacks;
    }

    /** What is to be said of user stacks so far, one sentence each. */
    List<String> stackNotes() throws IOException {
        List<String> notes = new ArrayList<>(stacks.notes());
        if (!refused.isEmpty()) {
            notes.add(
                    "the kernel refuses the unwinder; user stacks follow frame pointers at "
                            + String.join(", ", refused));
        }
        return notes;
    }

    /** CPUs that each have values in a per-CPU map. */
    static int cpus() throws SyscallException {
        return MachineFacts.possibleCpus().length();
    }

    @Override
    public void close() {
        programs.values().forEach(Program::close);
        programs.clear();
        types.forEach(LoadedBtf::close);
        types.clear();
        LoadedLibrary functions = library;
        library = null;
        if (functions != null) {
            functions.close();
        }
        maps.values().forEach(map -> map.map().close());
        maps.clear();
        stacks.close();
    }
}
