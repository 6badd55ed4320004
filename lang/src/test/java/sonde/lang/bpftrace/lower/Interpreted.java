package sonde.lang.bpftrace.lower;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import sonde.bpf.interpreter.Context;
import sonde.bpf.interpreter.Environment;
import sonde.bpf.interpreter.VirtualArray;
import sonde.bpf.interpreter.VirtualHash;
import sonde.bpf.interpreter.VirtualMap;
import sonde.bpf.interpreter.VirtualRing;
import sonde.lang.bpftrace.run.Compilation;
import sonde.lang.bpftrace.run.CompiledProgram;
import sonde.lang.bpftrace.run.Machine;
import sonde.lang.bpftrace.run.TraceOptions;
import sonde.lang.ir.Assembly;
import sonde.lang.output.MapRows;
import sonde.lang.source.Diagnostic;
import sonde.lang.source.Diagnostics;
import sonde.lang.source.SourceText;

/** A script whose programs run in the interpreter of bpf, on a machine of one CPU. */
final class Interpreted {
    private static final int RING_BYTES = 1 << 16;

    private final Compilation compilation;
    private final sonde.bpf.interpreter.Machine machine =
            new sonde.bpf.interpreter.Machine(Environment.FIXED);
    private final Map<String, VirtualMap> maps = new HashMap<>();
    private final List<String> names = new ArrayList<>();

    /** Compiles a script; any message is a failure. */
    Interpreted(String script) {
        compilation = compiled(script);
        Unit unit = compilation.unit();
        unit.maps().values().forEach(plan -> add(plan.name(), virtual(plan)));
        add(Unit.RING, new VirtualRing("ring", RING_BYTES));
        add(Unit.CONTROL, new VirtualRing("control", Unit.CONTROL_BYTES));
        VirtualArray shared = VirtualArray.of("shared", unit.shared().length, 1);
        shared.update(VirtualArray.key(0), unit.shared(), 0, 0);
        add(Unit.SHARED, shared);
        add(Unit.ENDED, VirtualArray.of("ended", 8, 1));
        add(Frame.MAP, VirtualArray.of("frames", Math.max(8, unit.frameBytes()), 1));
        VirtualArray texts = VirtualArray.of("texts", Math.max(8, unit.texts().length), 1);
        if (unit.texts().length > 0) {
            texts.update(VirtualArray.key(0), unit.texts(), 0, 0);
        }
        add(Unit.TEXTS, texts);
    }

    /** What the programs of a script share; any message is a failure. */
    static Unit unitOf(String script) {
        return compiled(script).unit();
    }

    private static Compilation compiled(String script) {
        TraceOptions options = TraceOptions.USUAL;
        Diagnostics diagnostics = new Diagnostics();
        Machine one = new Machine(1, 0, 0, 0, 0, 6, 12);
        Compilation compiled =
                Compilation.of(new SourceText("test", script), options, one, diagnostics);
        assertThat(diagnostics.all().stream().map(Diagnostic::render)).as(script).isEmpty();
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
                                new Assembly.Symbols() {
                                    @Override
                                    public int map(String name) {
                                        return names.indexOf(name) + 1;
                                    }

                                    @Override
                                    public int function(String kernelFunction) {
                                        return 0;
                                    }
                                }))
                .run(Context.of(context));
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
        List<MapRows.Row> rows = new ArrayList<>();
        for (byte[] key : map(name).keys()) {
            rows.add(new MapRows.Row(key, Objects.requireNonNull(map(name).get(key))));
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
    record Event(Action action, ByteBuffer bytes) {}

    /** What came through the ring, or that of control. */
    List<Event> events(boolean control) {
        VirtualRing ring = (VirtualRing) map(control ? Unit.CONTROL : Unit.RING);
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
    long lost(int program, Losses.Reason reason) {
        byte[] value = Objects.requireNonNull(map(Unit.SHARED).get(VirtualArray.key(0)));
        Losses losses = new Losses(compilation.unit());
        losses.read(ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN));
        return losses.count(program, reason);
    }

    /** Whether the script asked for its end. */
    boolean hasEnded() {
        return word(Objects.requireNonNull(map(Unit.ENDED).get(VirtualArray.key(0))), 8) != 0;
    }
}
