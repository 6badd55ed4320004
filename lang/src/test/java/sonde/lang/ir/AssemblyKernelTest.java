package sonde.lang.ir;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.bpf.BpfMap;
import sonde.bpf.LoadedBtf;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;
import sonde.bpf.ProgramType;
import sonde.bpf.TestRun;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.Width;
import sonde.lang.ir.Assembly.Stage;
import sonde.lang.ir.Assembly.Target;
import sonde.lang.source.SourceText;
import sonde.lang.source.Span;

@Tag("kernel")
class AssemblyKernelTest {
    private static final int LOOP = 181; // bpf_loop
    private static final int MAP_FOR_EACH = 164; // bpf_for_each_map_elem

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void randomProgramsPassTheVerifier(boolean isa4) throws Exception {
        for (int seed = 0; seed < 300; seed++) {
            Function main = RandomFunction.of(seed, 4 + seed % 24);
            int expected = (int) AssemblyPropertyTest.evaluate(main, 0);
            Assembly assembly = Assembly.of(main, new Target(isa4));
            assertThat(run(assembly, AssemblyPropertyTest.NONE, new byte[0]))
                    .as(
                            "seed %d\n%s\n%s",
                            seed, assembly.dump(Stage.IR), assembly.dump(Stage.ALLOCATED))
                    .isEqualTo(expected);
        }
    }

    @Test
    void smallProgramsPassTheVerifier() throws Exception {
        byte[] context = new byte[24];
        ByteBuffer.wrap(context).order(ByteOrder.nativeOrder()).putLong(8, 257);
        try (BpfMap hash = map(MapType.HASH);
                BpfMap ring = BpfMap.create(new MapSpec("ring", MapType.RING_BUFFER, 0, 0, 4096))) {
            Assembly.Symbols symbols = symbols(hash, ring);
            List<Function> programs =
                    List.of(
                            SmallPrograms.count(),
                            SmallPrograms.filter(),
                            SmallPrograms.latency(),
                            SmallPrograms.chase(),
                            SmallPrograms.loop());
            for (Function program : programs) {
                Assembly assembly = Assembly.of(program, new Target(true));
                assertThat(run(assembly, symbols, context)).isZero();
            }
            assertThat(get(hash, ProcessHandle.current().pid())).isEqualTo(1);
        }
    }

    /** A callback that keeps more than fits the registers, its context among them. */
    @Test
    void callbacksKeepPointersInMemory() throws Exception {
        Function twice = new Function("twice", List.of(Vreg.Kind.SCALAR));
        Vreg doubled = twice.scalar();
        twice.add(
                new Operation.Alu(
                        AluOperation.ADD,
                        true,
                        doubled,
                        twice.parameters().getFirst(),
                        twice.parameters().getFirst()));
        twice.add(new Operation.Return(doubled));
        Function each = new Function("each", List.of(Vreg.Kind.SCALAR, Vreg.Kind.POINTER));
        SourceText text = new SourceText("program.bt", "begin {\n  for ($i : 0..10) { }\n}\n");
        each.from(new Span(text, 10, 30));
        Vreg context = each.parameters().get(1);
        List<Vreg> kept = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            Vreg value = each.scalar();
            each.add(new Operation.CallLocal(value, twice, List.of(each.parameters().getFirst())));
            kept.add(value);
        }
        Vreg sum = each.register(Vreg.Kind.SCALAR, "$sum");
        each.add(new Operation.Load(Width.U64, false, sum, context, 0));
        for (Vreg one : kept) {
            Vreg more = each.scalar();
            each.add(new Operation.Alu(AluOperation.ADD, true, more, sum, one));
            each.add(new Operation.Copy(sum, more));
        }
        each.add(new Operation.Store(Width.U64, context, 0, sum));
        each.add(new Operation.Return(Operand.of(0)));
        Function main = new Function("main", List.of(Vreg.Kind.POINTER));
        StackObject shared = main.object(16, 8);
        main.add(new Operation.Store(Width.U64, shared, 0, Operand.of(5)));
        main.add(new Operation.Store(Width.U64, shared, 8, Operand.of(0)));
        Vreg callback = main.pointer();
        main.add(new Operation.FunctionAddress(callback, each));
        Vreg address = main.pointer();
        main.add(new Operation.Address(address, shared, 0));
        main.add(
                new Operation.Call(
                        null, LOOP, List.of(Operand.of(10), callback, address, Operand.of(0))));
        Vreg result = main.scalar();
        main.add(new Operation.Load(Width.U64, false, result, shared, 0));
        main.add(new Operation.Return(result));

        Assembly assembly = Assembly.of(main, new Target(true));

        assertThat(assembly.needsDebug()).isTrue();
        assertThat(assembly.dump(Stage.ALLOCATED)).contains("u64[s0+0] = r");
        assertThat(run(assembly, AssemblyPropertyTest.NONE, new byte[0])).isEqualTo(5 + 14 * 45);
    }

    @Test
    void callbacksOfMapsAreCalled() throws Exception {
        Function each =
                new Function(
                        "each",
                        List.of(
                                Vreg.Kind.POINTER,
                                Vreg.Kind.POINTER,
                                Vreg.Kind.POINTER,
                                Vreg.Kind.POINTER));
        Vreg value = each.scalar();
        Vreg sum = each.scalar();
        Vreg context = each.parameters().get(3);
        each.add(new Operation.Load(Width.U64, false, value, each.parameters().get(2), 0));
        each.add(new Operation.Load(Width.U64, false, sum, context, 0));
        each.add(new Operation.Alu(AluOperation.ADD, true, sum, sum, value));
        each.add(new Operation.Store(Width.U64, context, 0, sum));
        each.add(new Operation.Return(Operand.of(0)));
        Function main = new Function("main", List.of());
        StackObject total = main.object(8, 8);
        main.add(new Operation.Store(Width.U64, total, 0, Operand.of(0)));
        Vreg map = main.pointer();
        Vreg callback = main.pointer();
        Vreg address = main.pointer();
        main.add(new Operation.MapAddress(map, "counts"));
        main.add(new Operation.FunctionAddress(callback, each));
        main.add(new Operation.Address(address, total, 0));
        main.add(
                new Operation.Call(
                        null, MAP_FOR_EACH, List.of(map, callback, address, Operand.of(0))));
        Vreg result = main.scalar();
        main.add(new Operation.Load(Width.U64, false, result, total, 0));
        main.add(new Operation.Return(result));
        try (BpfMap hash = map(MapType.HASH)) {
            put(hash, 1, 40);
            put(hash, 2, 2);
            Assembly assembly = Assembly.of(main, new Target(true));
            assertThat(assembly.maps()).containsExactly("counts");
            assertThat(run(assembly, symbols(hash, hash), new byte[0])).isEqualTo(42);
        }
    }

    private static void put(BpfMap map, long key, long value) throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            map.put(arena.allocateFrom(JAVA_LONG, key), arena.allocateFrom(JAVA_LONG, value));
        }
    }

    private static long get(BpfMap map, long key) throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(JAVA_LONG);
            assertThat(map.get(arena.allocateFrom(JAVA_LONG, key), value)).isTrue();
            return value.get(JAVA_LONG, 0);
        }
    }

    private static BpfMap map(MapType type) throws Exception {
        return BpfMap.create(new MapSpec("counts", type, 8, 8, 16));
    }

    private static Assembly.Symbols symbols(BpfMap hash, BpfMap ring) {
        return new Assembly.Symbols() {
            @Override
            public int map(String name) {
                return name.equals("ring") ? ring.fd() : hash.fd();
            }

            @Override
            public int function(String kernelFunction) {
                throw new IllegalArgumentException(kernelFunction);
            }
        };
    }

    /** Loads a program with its types, runs it once, and tells what it returned. */
    private static int run(Assembly assembly, Assembly.Symbols symbols, byte[] context)
            throws Exception {
        try (LoadedBtf types = LoadedBtf.load(assembly.btf())) {
            ProgramSpec spec =
                    new ProgramSpec("test", ProgramType.RAW_TRACEPOINT, assembly.code(symbols))
                            .with(
                                    new ProgramSpec.Debug(
                                            types.fd(),
                                            assembly.functionRecords(),
                                            8,
                                            assembly.lineRecords(),
                                            16,
                                            true));
            try (Program program = Program.load(spec)) {
                return program.run(TestRun.context(context)).value();
            }
        }
    }
}
