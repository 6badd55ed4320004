package sonde.lang.ir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.Instruction;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Width;
import sonde.bpf.interpreter.BpfMachine;
import sonde.bpf.interpreter.MachineEnvironment;
import sonde.bpf.interpreter.ProgramContext;
import sonde.lang.ir.Assembly.InstructionSet;
import sonde.lang.ir.Assembly.Stage;
import sonde.lang.ir.IrOperation.IrAddress;
import sonde.lang.ir.IrOperation.IrAlu;
import sonde.lang.ir.IrOperation.IrBranch;
import sonde.lang.ir.IrOperation.IrCall;
import sonde.lang.ir.IrOperation.IrCallKernel;
import sonde.lang.ir.IrOperation.IrCallLocal;
import sonde.lang.ir.IrOperation.IrReturn;
import sonde.lang.ir.IrOperation.IrStore;
import sonde.lang.source.SourceSpan;
import sonde.lang.source.SourceText;

class AssemblyTest {
    private static final InstructionSet TARGET = new InstructionSet(true);
    private final SourceText text = new SourceText("a.bt", "begin {\n  @[pid] = count();\n}\n");

    @Test
    void mapsAndFunctionsGetTheirNumbersLast() throws Exception {
        IrFunction f = new IrFunction("f", List.of());
        VirtualRegister map = f.pointer();
        VirtualRegister value = f.pointer();
        f.add(new IrOperation.MapAddress(map, "a"));
        f.add(new IrCallKernel(null, "bpf_strlen", List.of(map)));
        f.add(new IrOperation.MapValue(value, "b", 16));
        f.add(new IrStore(Width.U64, value, 8, IrOperand.of(1)));
        f.add(new IrReturn(IrOperand.of(0)));
        Assembly assembly = Assembly.of(f, TARGET);
        assertThat(assembly.maps()).containsExactlyInAnyOrder("a", "b");
        assertThat(assembly.kernelFunctions()).containsExactly("bpf_strlen");
        assertThat(assembly.code(SmallProgramsTest.NUMBERS).toString())
                .contains("r1 = map[fd:1]")
                .contains("map[fd:1][0]+16")
                .contains("kfunc#10");
    }

    @Test
    void instructionsKnowTheirPlaceAndTheirVariables() throws Exception {
        IrFunction f = new IrFunction("f", List.of());
        SourceSpan first = new SourceSpan(text, 10, 15);
        SourceSpan second = new SourceSpan(text, 19, 26);
        f.from(first);
        VirtualRegister pid = f.register(VirtualRegister.Kind.SCALAR, "$pid");
        f.add(new IrCall(pid, 14, List.of()));
        f.from(second);
        f.add(new IrCall(null, 5, List.of()));
        f.add(new IrReturn(pid));
        Assembly assembly = Assembly.of(f, TARGET);
        // call, r6 = r0, call, r0 = r6, exit
        assertThat(assembly.slots()).isEqualTo(5);
        assertThat(assembly.spanAt(0)).isEqualTo(first);
        assertThat(assembly.spanAt(2)).isEqualTo(second);
        assertThat(assembly.spanAt(5)).isNull();
        assertThat(assembly.variableAt(2, 6)).isEqualTo("$pid");
        assertThat(assembly.variableAt(2, 0)).isNull();
        assertThat(assembly.variableAt(4, 0)).isEqualTo("$pid");
        ByteBuffer lines = ByteBuffer.wrap(assembly.lineRecords()).order(ByteOrder.nativeOrder());
        assertThat(lines.getInt(0)).isZero();
        assertThat(lines.getInt(12)).isEqualTo(2 << 10 | 3);
        assertThat(lines.getInt(16)).isEqualTo(2);
        assertThat(lines.getInt(28)).isEqualTo(2 << 10 | 12);
        assertThat(new String(assembly.btf(), java.nio.charset.StandardCharsets.ISO_8859_1))
                .contains("  @[pid] = count();\0")
                .contains("a.bt\0");
    }

    @Test
    void framesAreLimited() {
        IrFunction f = new IrFunction("f", List.of());
        StackObject large = f.object(520, 8);
        VirtualRegister address = f.pointer();
        f.add(new IrAddress(address, large, 0));
        f.add(new IrCall(null, 16, List.of(address, IrOperand.of(520))));
        assertThatThrownBy(() -> Assembly.of(f, TARGET))
                .isInstanceOf(CompilationException.class)
                .hasMessage("f needs 520 bytes of stack; kernels give 512");
    }

    @Test
    void framesOfCallsCountTogether() {
        IrFunction inner = withObject("inner", 300);
        IrFunction outer = withObject("outer", 300);
        outer.from(new SourceSpan(text, 10, 15));
        outer.add(new IrCallLocal(null, inner, List.of()));
        assertThatThrownBy(() -> Assembly.of(outer, TARGET))
                .hasMessage("outer and what it calls need 624 bytes of stack; kernels give 512")
                .extracting(e -> ((CompilationException) e).span())
                .isEqualTo(new SourceSpan(text, 10, 15));
    }

    private static IrFunction withObject(String name, int bytes) {
        IrFunction f = new IrFunction(name, List.of());
        VirtualRegister address = f.pointer();
        f.add(new IrAddress(address, f.object(bytes, 8), 0));
        f.add(new IrCall(null, 16, List.of(address, IrOperand.of(bytes))));
        return f;
    }

    @Test
    void functionsMayNotCallThemselves() {
        IrFunction f = new IrFunction("f", List.of());
        f.add(new IrCallLocal(null, f, List.of()));
        assertThatThrownBy(() -> Assembly.of(f, TARGET))
                .hasMessage("f calls itself, which no kernel takes");
    }

    @Test
    void farJumpsNeedIsa4() throws Exception {
        IrFunction f = new IrFunction("f", List.of(VirtualRegister.Kind.POINTER));
        VirtualRegister value = f.scalar();
        BasicBlock much = f.block();
        BasicBlock out = f.block();
        f.add(new IrCall(value, 14, List.of()));
        f.add(new IrBranch(JumpCondition.ANY_BIT, true, value, IrOperand.of(1L << 30), out, much));
        f.start(much);
        for (int i = 0; i < 20_000; i++) {
            f.add(new IrCall(null, 14, List.of()));
            f.add(new IrAlu(AluOperation.XOR, true, value, value, IrOperand.of(i)));
        }
        f.start(out);
        f.add(new IrReturn(value));
        assertThatThrownBy(() -> Assembly.of(f, new InstructionSet(false)))
                .isInstanceOf(CompilationException.class)
                .hasMessageContaining("too long to be jumped over");
        var code = Assembly.of(f, TARGET).code(AssemblyPropertyTest.NONE);
        assertThat(code.instructions()).anyMatch(i -> i instanceof Instruction.GotoLong);
        assertThat(new BpfMachine(MachineEnvironment.FIXED).load(code).run(ProgramContext.none()))
                .isEqualTo(1000L << 32 | 1000);
    }

    @Test
    void everyStageIsText() throws Exception {
        Assembly assembly = Assembly.of(SmallPrograms.count(), TARGET);
        assertThat(assembly.dump(Stage.IR)).contains("p4 = map counts");
        assertThat(assembly.dump(Stage.OPTIMISED)).contains("v1 = bpf_get_current_pid_tgid()");
        assertThat(assembly.dump(Stage.ALLOCATED)).contains("r0 = r0 >> 32");
    }
}
