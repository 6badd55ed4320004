package sonde.lang.ir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.Condition;
import sonde.bpf.insn.Instruction;
import sonde.bpf.insn.Width;
import sonde.bpf.interpreter.Context;
import sonde.bpf.interpreter.Environment;
import sonde.bpf.interpreter.Machine;
import sonde.lang.ir.Assembly.Stage;
import sonde.lang.ir.Assembly.Target;
import sonde.lang.source.SourceText;
import sonde.lang.source.Span;

class AssemblyTest {
    private static final Target TARGET = new Target(true);
    private final SourceText text = new SourceText("a.bt", "begin {\n  @[pid] = count();\n}\n");

    @Test
    void mapsAndFunctionsGetTheirNumbersLast() throws Exception {
        Function f = new Function("f", List.of());
        Vreg map = f.pointer();
        Vreg value = f.pointer();
        f.add(new Operation.MapAddress(map, "a"));
        f.add(new Operation.CallKernel(null, "bpf_strlen", List.of(map)));
        f.add(new Operation.MapValue(value, "b", 16));
        f.add(new Operation.Store(Width.U64, value, 8, Operand.of(1)));
        f.add(new Operation.Return(Operand.of(0)));
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
        Function f = new Function("f", List.of());
        Span first = new Span(text, 10, 15);
        Span second = new Span(text, 19, 26);
        f.from(first);
        Vreg pid = f.register(Vreg.Kind.SCALAR, "$pid");
        f.add(new Operation.Call(pid, 14, List.of()));
        f.from(second);
        f.add(new Operation.Call(null, 5, List.of()));
        f.add(new Operation.Return(pid));
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
        Function f = new Function("f", List.of());
        StackObject large = f.object(520, 8);
        Vreg address = f.pointer();
        f.add(new Operation.Address(address, large, 0));
        f.add(new Operation.Call(null, 16, List.of(address, Operand.of(520))));
        assertThatThrownBy(() -> Assembly.of(f, TARGET))
                .isInstanceOf(CompilationException.class)
                .hasMessage("f needs 520 bytes of stack; kernels give 512");
    }

    @Test
    void framesOfCallsCountTogether() {
        Function inner = withObject("inner", 300);
        Function outer = withObject("outer", 300);
        outer.from(new Span(text, 10, 15));
        outer.add(new Operation.CallLocal(null, inner, List.of()));
        assertThatThrownBy(() -> Assembly.of(outer, TARGET))
                .hasMessage("outer and what it calls need 624 bytes of stack; kernels give 512")
                .extracting(e -> ((CompilationException) e).span())
                .isEqualTo(new Span(text, 10, 15));
    }

    private static Function withObject(String name, int bytes) {
        Function f = new Function(name, List.of());
        Vreg address = f.pointer();
        f.add(new Operation.Address(address, f.object(bytes, 8), 0));
        f.add(new Operation.Call(null, 16, List.of(address, Operand.of(bytes))));
        return f;
    }

    @Test
    void functionsMayNotCallThemselves() {
        Function f = new Function("f", List.of());
        f.add(new Operation.CallLocal(null, f, List.of()));
        assertThatThrownBy(() -> Assembly.of(f, TARGET))
                .hasMessage("f calls itself, which no kernel takes");
    }

    @Test
    void farJumpsNeedIsa4() throws Exception {
        Function f = new Function("f", List.of(Vreg.Kind.POINTER));
        Vreg value = f.scalar();
        Block much = f.block();
        Block out = f.block();
        f.add(new Operation.Call(value, 14, List.of()));
        f.add(
                new Operation.Branch(
                        Condition.ANY_BIT, true, value, Operand.of(1L << 30), out, much));
        f.start(much);
        for (int i = 0; i < 20_000; i++) {
            f.add(new Operation.Call(null, 14, List.of()));
            f.add(new Operation.Alu(AluOperation.XOR, true, value, value, Operand.of(i)));
        }
        f.start(out);
        f.add(new Operation.Return(value));
        assertThatThrownBy(() -> Assembly.of(f, new Target(false)))
                .isInstanceOf(CompilationException.class)
                .hasMessageContaining("too long to be jumped over");
        var code = Assembly.of(f, TARGET).code(AssemblyPropertyTest.NONE);
        assertThat(code.instructions()).anyMatch(i -> i instanceof Instruction.GotoLong);
        assertThat(new Machine(Environment.FIXED).load(code).run(Context.none()))
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
