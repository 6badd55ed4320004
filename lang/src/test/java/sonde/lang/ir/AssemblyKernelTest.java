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
import sonde.lang.ir.Assembly.AssemblySymbols;
import sonde.lang.ir.Assembly.InstructionSet;
import sonde.lang.ir.Assembly.Stage;
import sonde.lang.ir.IrOperation.IrAddress;
import sonde.lang.ir.IrOperation.IrAlu;
import sonde.lang.ir.IrOperation.IrCall;
import sonde.lang.ir.IrOperation.IrCallLocal;
import sonde.lang.ir.IrOperation.IrCopy;
import sonde.lang.ir.IrOperation.IrLoad;
import sonde.lang.ir.IrOperation.IrReturn;
import sonde.lang.ir.IrOperation.IrStore;
import sonde.lang.source.SourceSpan;
import sonde.lang.source.SourceText;

@Tag("kernel")
class AssemblyKernelTest {
    private static final int LOOP = 181; // bpf_loop
    private static final int MAP_FOR_EACH = 164; // bpf_for_each_map_elem

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void randomProgramsPassTheVerifier(boolean isa4) throws Exception {
        for (int seed = 0; seed < 300; seed++) {
            IrFunction main = RandomFunction.of(seed, 4 + seed % 24);
            int expected = (int) AssemblyPropertyTest.evaluate(main, 0);
            Assembly assembly = Assembly.of(main, new InstructionSet(isa4));
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
            AssemblySymbols symbols = symbols(hash, ring);
            List<IrFunction> programs =
                    List.of(
                            SmallPrograms.count(),
                            SmallPrograms.filter(),
                            SmallPrograms.latency(),
                            SmallPrograms.chase(),
                            SmallPrograms.loop());
            for (IrFunction program : programs) {
                Assembly assembly = Assembly.of(program, new InstructionSet(true));
                assertThat(run(assembly, symbols, context)).isZero();
            }
            assertThat(get(hash, ProcessHandle.current().pid())).isEqualTo(1);
        }
    }

    /** A callback that keeps more than fits the registers, its context among them. */
    @Test
    void callbacksKeepPointersInMemory() throws Exception {
        IrFunction twice = new IrFunction("twice", List.of(VirtualRegister.Kind.SCALAR));
        VirtualRegister doubled = twice.scalar();
        twice.add(
                new IrAlu(
                        AluOperation.ADD,
                        true,
                        doubled,
                        twice.parameters().getFirst(),
                        twice.parameters().getFirst()));
        twice.add(new IrReturn(doubled));
        IrFunction each =
                new IrFunction(
                        "each", List.of(VirtualRegister.Kind.SCALAR, VirtualRegister.Kind.POINTER));
        SourceText text = new SourceText("program.bt", "begin {\n  for ($i : 0..10) { }\n}\n");
        each.from(new SourceSpan(text, 10, 30));
        VirtualRegister context = each.parameters().get(1);
        List<VirtualRegister> kept = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            VirtualRegister value = each.scalar();
            each.add(new IrCallLocal(value, twice, List.of(each.parameters().getFirst())));
            kept.add(value);
        }
        VirtualRegister sum = each.register(VirtualRegister.Kind.SCALAR, "$sum");
        each.add(new IrLoad(Width.U64, false, sum, context, 0));
        for (VirtualRegister one : kept) {
            VirtualRegister more = each.scalar();
            each.add(new IrAlu(AluOperation.ADD, true, more, sum, one));
            each.add(new IrCopy(sum, more));
        }
        each.add(new IrStore(Width.U64, context, 0, sum));
        each.add(new IrReturn(IrOperand.of(0)));
        IrFunction main = new IrFunction("main", List.of(VirtualRegister.Kind.POINTER));
        StackObject shared = main.object(16, 8);
        main.add(new IrStore(Width.U64, shared, 0, IrOperand.of(5)));
        main.add(new IrStore(Width.U64, shared, 8, IrOperand.of(0)));
        VirtualRegister callback = main.pointer();
        main.add(new IrOperation.FunctionAddress(callback, each));
        VirtualRegister address = main.pointer();
        main.add(new IrAddress(address, shared, 0));
        main.add(
                new IrCall(
                        null, LOOP, List.of(IrOperand.of(10), callback, address, IrOperand.of(0))));
        VirtualRegister result = main.scalar();
        main.add(new IrLoad(Width.U64, false, result, shared, 0));
        main.add(new IrReturn(result));

        Assembly assembly = Assembly.of(main, new InstructionSet(true));

        assertThat(assembly.needsDebug()).isTrue();
        assertThat(assembly.dump(Stage.ALLOCATED)).contains("u64[s0+0] = r");
        assertThat(run(assembly, AssemblyPropertyTest.NONE, new byte[0])).isEqualTo(5 + 14 * 45);
    }

    @Test
    void callbacksOfMapsAreCalled() throws Exception {
        IrFunction each =
                new IrFunction(
                        "each",
                        List.of(
                                VirtualRegister.Kind.POINTER,
                                VirtualRegister.Kind.POINTER,
                                VirtualRegister.Kind.POINTER,
                                VirtualRegister.Kind.POINTER));
        VirtualRegister value = each.scalar();
        VirtualRegister sum = each.scalar();
        VirtualRegister context = each.parameters().get(3);
        each.add(new IrLoad(Width.U64, false, value, each.parameters().get(2), 0));
        each.add(new IrLoad(Width.U64, false, sum, context, 0));
        each.add(new IrAlu(AluOperation.ADD, true, sum, sum, value));
        each.add(new IrStore(Width.U64, context, 0, sum));
        each.add(new IrReturn(IrOperand.of(0)));
        IrFunction main = new IrFunction("main", List.of());
        StackObject total = main.object(8, 8);
        main.add(new IrStore(Width.U64, total, 0, IrOperand.of(0)));
        VirtualRegister map = main.pointer();
        VirtualRegister callback = main.pointer();
        VirtualRegister address = main.pointer();
        main.add(new IrOperation.MapAddress(map, "counts"));
        main.add(new IrOperation.FunctionAddress(callback, each));
        main.add(new IrAddress(address, total, 0));
        main.add(new IrCall(null, MAP_FOR_EACH, List.of(map, callback, address, IrOperand.of(0))));
        VirtualRegister result = main.scalar();
        main.add(new IrLoad(Width.U64, false, result, total, 0));
        main.add(new IrReturn(result));
        try (BpfMap hash = map(MapType.HASH)) {
            put(hash, 1, 40);
            put(hash, 2, 2);
            Assembly assembly = Assembly.of(main, new InstructionSet(true));
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

    private static AssemblySymbols symbols(BpfMap hash, BpfMap ring) {
        return new AssemblySymbols() {
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
    private static int run(Assembly assembly, AssemblySymbols symbols, byte[] context)
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
