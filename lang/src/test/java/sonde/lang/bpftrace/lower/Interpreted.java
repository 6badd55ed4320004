package sonde.lang.bpftrace.lower;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import sonde.bpf.interpreter.BpfMachine;
import sonde.bpf.interpreter.MachineEnvironment;
import sonde.bpf.interpreter.ProgramContext;
import sonde.bpf.interpreter.VirtualArray;
import sonde.bpf.interpreter.VirtualHash;
import sonde.bpf.interpreter.VirtualMap;
import sonde.bpf.interpreter.VirtualRing;
import sonde.lang.bpftrace.lower.ScriptLosses.LossReason;
import sonde.lang.bpftrace.run.Compilation;
import sonde.lang.bpftrace.run.CompiledProgram;
import sonde.lang.bpftrace.run.TargetMachine;
import sonde.lang.bpftrace.run.TraceOptions;
import sonde.lang.ir.Assembly.AssemblySymbols;
import sonde.lang.output.MapRows;
import sonde.lang.output.MapRows.MapRow;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceDiagnostic;
import sonde.lang.source.SourceText;

/** A script whose programs run in the interpreter of bpf, on a machine of one CPU. */
final class Interpreted {
    private static final int RING_BYTES = 1 << 16;

    private final Compilation compilation;
    private final BpfMachine machine = new BpfMachine(MachineEnvironment.FIXED);
    private final Map<String, VirtualMap> maps = new HashMap<>();
    private final List<String> names = new ArrayList<>();

    /** Compiles a script; any message is a failure. */
    Interpreted(String script) {
        compilation = compiled(script);
        ScriptUnit unit = compilation.unit();
        unit.maps().values().forEach(plan -> add(plan.name(), virtual(plan)));
        add(ScriptUnit.RING, new VirtualRing("ring", RING_BYTES));
        add(ScriptUnit.CONTROL, new VirtualRing("control", ScriptUnit.CONTROL_BYTES));
        VirtualArray shared = VirtualArray.of("shared", unit.shared().length, 1);
        shared.update(VirtualArray.key(0), unit.shared(), 0, 0);
        add(ScriptUnit.SHARED, shared);
        add(ScriptUnit.ENDED, VirtualArray.of("ended", 8, 1));
        add(ScratchMemory.MAP, VirtualArray.of("frames", Math.max(8, unit.frameBytes()), 1));
        VirtualArray texts = VirtualArray.of("texts", Math.max(8, unit.texts().length), 1);
        if (unit.texts().length > 0) {
            texts.update(VirtualArray.key(0), unit.texts(), 0, 0);
        }
        add(ScriptUnit.TEXTS, texts);
    }

    /** What the programs of a script share; any message is a failure. */
    static ScriptUnit unitOf(String script) {
        return compiled(script).unit();
    }

    private static Compilation compiled(String script) {
        TraceOptions options = TraceOptions.USUAL;
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        TargetMachine one = new TargetMachine(1, 0, 0, 0, 0, 6, 12);
        Compilation compiled =
                Compilation.of(new SourceText("test", script), options, one, diagnostics);
        assertThat(diagnostics.all().stream().map(SourceDiagnostic::render)).as(script).isEmpty();
        return Objects.requireNonNull(compiled);
    }

    private static VirtualMap virtual(MapPlan plan) {
        return switch (plan.type()) {
            case ARRAY -> VirtualArray.of(plan.name(), plan.valueBytes(), 1);
            case PER_CPU_ARRAY -> VirtualArray.perCpu(plan.name(), plan.valueBytes(), 1, 1);
            case PER_CPU_HASH, LRU_PER_CPU_HASH ->
                    VirtualHash.perCpu(
                            plan.name(), plan.keyBytes(), plan.valueBytes(), plan.entries(), 1);
            default ->
                    VirtualHash.of(plan.name(), plan.keyBytes(), plan.valueBytes(), plan.entries());
        };
    }

    private void add(String name, VirtualMap map) {
        names.add(name);
        maps.put(name, map);
        machine.map(names.size(), map);
    }

    /** Runs all programs in their order. */
    Interpreted run() throws Exception {
        for (CompiledProgram program : compilation.programs()) {
            run(program, new byte[256]);
        }
        return this;
    }

    /** Runs the first program with what it is called with. */
    long run(byte[] context) throws Exception {
        return run(compilation.programs().getFirst(), context);
    }

    private long run(CompiledProgram program, byte[] context) throws Exception {
        return machine.load(
                        program.code(
                                new AssemblySymbols() {
                                    @Override
                                    public int map(String name) {
                                        return names.indexOf(name) + 1;
                                    }

                                    @Override
                                    public int function(String kernelFunction) {
                                        return 0;
                                    }
                                }))
                .run(ProgramContext.of(context));
    }

    private VirtualMap map(String name) {
        return Objects.requireNonNull(maps.get(name), name);
    }

    /** The value of a map without keys. */
    long number(String name) {
        MapPlan plan = Objects.requireNonNull(compilation.unit().maps().get(name), name);
        byte[] key = plan.isArray() ? VirtualArray.key(0) : new byte[8];
        return word(Objects.requireNonNull(map(name).get(key), name), plan.value().sizeBytes());
    }

    /** The value of a map whose keys are whole numbers; null for none. */
    Long at(String name, long key) {
        MapPlan plan = Objects.requireNonNull(compilation.unit().maps().get(name), name);
        byte[] bytes = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(key).array();
        byte[] value = map(name).get(java.util.Arrays.copyOf(bytes, plan.keyBytes()));
        return value == null ? null : (Long) word(value, plan.value().sizeBytes());
    }

    /** Sets a value of 8 bytes of a map whose keys are whole numbers. */
    void put(String name, long key, long value) {
        MapPlan plan = Objects.requireNonNull(compilation.unit().maps().get(name), name);
        ByteBuffer bytes = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(key);
        byte[] number =
                ByteBuffer.allocate(plan.valueBytes())
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putLong(value)
                        .array();
        map(name).update(java.util.Arrays.copyOf(bytes.array(), plan.keyBytes()), number, 0, 0);
    }

    /** How many keys a map has. */
    int size(String name) {
        return map(name).keys().size();
    }

    /** Rows of a map as it would be printed. */
    MapRows rows(String name) {
        MapPlan plan = Objects.requireNonNull(compilation.unit().maps().get(name), name);
        List<MapRow> rows = new ArrayList<>();
        for (byte[] key : map(name).keys()) {
            rows.add(new MapRow(key, Objects.requireNonNull(map(name).get(key))));
        }
        return new MapRows(name, plan.scalar(), plan.key(), plan.value(), rows);
    }

    private static long word(byte[] value, int bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN);
        return switch (bytes) {
            case 1 -> buffer.get(0);
            case 2 -> buffer.getShort(0);
            case 4 -> buffer.getInt(0);
            default -> buffer.getLong(0);
        };
    }

    /** An event: what it asks for, and its bytes. */
    record Event(EventAction action, ByteBuffer bytes) {}

    /** What came through the ring, or that of control. */
    List<Event> events(boolean control) {
        VirtualRing ring = (VirtualRing) map(control ? ScriptUnit.CONTROL : ScriptUnit.RING);
        List<Event> events = new ArrayList<>();
        for (byte[] record : ring.drain()) {
            ByteBuffer bytes = ByteBuffer.wrap(record).order(ByteOrder.LITTLE_ENDIAN);
            events.add(
                    new Event(
                            compilation.unit().actions().get((int) bytes.getLong(0)),
                            bytes.slice(8, record.length - 8).order(ByteOrder.LITTLE_ENDIAN)));
        }
        return events;
    }

    /** What a program has lost. */
    long lost(int program, LossReason reason) {
        byte[] value = Objects.requireNonNull(map(ScriptUnit.SHARED).get(VirtualArray.key(0)));
        ScriptLosses losses = new ScriptLosses(compilation.unit());
        losses.read(ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN));
        return losses.count(program, reason);
    }

    /** Whether the script asked for its end. */
    boolean hasEnded() {
        return word(Objects.requireNonNull(map(ScriptUnit.ENDED).get(VirtualArray.key(0))), 8) != 0;
    }
}
