package sonde.lang.bpftrace.run;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.bpf.BpfMap;
import sonde.bpf.LoadedBtf;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;
import sonde.bpf.map.ByteMap;
import sonde.lang.bpftrace.lower.MapPlan;
import sonde.lang.bpftrace.lower.Unit;
import sonde.lang.ir.Assembly;
import sonde.lang.probes.LoadNeeds;
import sonde.sys.Machine;
import sonde.sys.SyscallException;

/** A script's maps and programs in the kernel; gone when this is closed. */
final class LoadedScript implements AutoCloseable {
    private static final String FRAMES = ".frames";
    private static final byte[] FIRST = new byte[4];

    private final Compilation compilation;
    private final Map<String, ByteMap> maps = new HashMap<>();
    private final Map<CompiledProgram, Program> programs = new LinkedHashMap<>();
    private final List<LoadedBtf> types = new ArrayList<>();

    private LoadedScript(Compilation compilation) {
        this.compilation = compilation;
    }

    /**
     * Loads all.
     *
     * @throws LoadException when the kernel refuses a program
     */
    static LoadedScript load(Compilation compilation, long ringBytes)
            throws IOException, LoadException {
        LoadedScript loaded = new LoadedScript(compilation);
        try {
            loaded.makeMaps(ringBytes);
            for (CompiledProgram program : compilation.programs()) {
                loaded.programs.put(program, loaded.load(program));
            }
            return loaded;
        } catch (IOException | LoadException | RuntimeException e) {
            loaded.close();
            throw e;
        }
    }

    private void makeMaps(long ringBytes) throws IOException {
        Unit unit = compilation.unit();
        for (MapPlan plan : unit.maps().values()) {
            make(plan.name(), plan.spec());
        }
        make(Unit.RING, new MapSpec("ring", MapType.RING_BUFFER, 0, 0, (int) ringBytes));
        make(Unit.CONTROL, new MapSpec("control", MapType.RING_BUFFER, 0, 0, Unit.CONTROL_BYTES));
        single(Unit.LOST, unit.lostBytes());
        single(Unit.ZEROS, unit.zeroBytes());
        single(Unit.ENDED, 8);
        if (unit.frameBytes() > 0) {
            single(FRAMES, unit.frameBytes());
        }
        byte[] texts = unit.texts();
        if (texts.length > 0) {
            ByteMap map =
                    make(
                            Unit.TEXTS,
                            new MapSpec("texts", MapType.ARRAY, 4, texts.length, 1)
                                    .with(MapSpec.READ_ONLY_IN_PROGRAMS));
            map.put(FIRST, texts);
            map.map().freeze();
        }
    }

    private void single(String name, int sizeBytes) throws IOException {
        make(name, new MapSpec(name.substring(1), MapType.ARRAY, 4, sizeBytes, 1));
    }

    private ByteMap make(String name, MapSpec spec) throws IOException {
        ByteMap map = new ByteMap(BpfMap.create(spec));
        maps.put(name, map);
        return map;
    }

    private Program load(CompiledProgram program) throws IOException, LoadException {
        Assembly assembly = program.assembly();
        LoadNeeds needs = LoadNeeds.of(program.group());
        ProgramSpec spec =
                needs.spec(program.kernelName(), assembly.code(new Symbols()))
                        .licensed(compilation.configuration().license())
                        .with(debug(assembly));
        try {
            return needs.load(spec);
        } catch (IOException e) {
            throw new LoadException(program, e);
        }
    }

    private ProgramSpec.Debug debug(Assembly assembly) throws IOException {
        LoadedBtf btf = LoadedBtf.load(assembly.btf());
        types.add(btf);
        return new ProgramSpec.Debug(
                btf.fd(),
                assembly.functionRecords(),
                8,
                assembly.lineRecords(),
                16,
                assembly.needsDebug());
    }

    /** Descriptors and ids that the code refers to by name. */
    private final class Symbols implements Assembly.Symbols {
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
            return compilation.kernelFunction(kernelFunction);
        }
    }

    /** Programs by what they were compiled from, in the order of the script. */
    Map<CompiledProgram, Program> programs() {
        return programs;
    }

    /** A map of the script, or of the tracer. */
    ByteMap map(String name) {
        ByteMap map = maps.get(name);
        if (map == null) {
            throw new IllegalStateException("no map " + name);
        }
        return map;
    }

    /** How much was lost so far, as counters at {@link Unit#lostAt}. */
    ByteBuffer lost() throws SyscallException {
        byte @Nullable [] value = map(Unit.LOST).get(FIRST);
        return ByteBuffer.wrap(value == null ? new byte[compilation.unit().lostBytes()] : value)
                .order(ByteOrder.LITTLE_ENDIAN);
    }

    /** CPUs that each have values in a per-CPU map. */
    static int cpus() throws SyscallException {
        return Machine.possibleCpus().length();
    }

    @Override
    public void close() {
        programs.values().forEach(Program::close);
        programs.clear();
        types.forEach(LoadedBtf::close);
        types.clear();
        maps.values().forEach(map -> map.map().close());
        maps.clear();
    }
}
