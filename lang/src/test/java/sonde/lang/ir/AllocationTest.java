package sonde.lang.ir;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.Width;
import sonde.lang.ir.Assembly.Stage;
import sonde.lang.ir.Assembly.Target;
import sonde.lang.ir.Operation.Alu;
import sonde.lang.ir.Operation.Call;
import sonde.lang.ir.Operation.Load;
import sonde.lang.ir.Operation.Return;

@Isolated("measures time")
class AllocationTest {
    @Test
    void livesHaveHoles() {
        Function f = new Function("f", List.of());
        Vreg variable = f.scalar();
        f.add(new Operation.Constant(variable, 1));
        f.add(new Call(null, 1, List.of(variable)));
        f.add(new Operation.Constant(variable, 2));
        f.add(new Return(variable));
        Body body = Body.of(f);
        Interval life = Interval.of(body, Subjects.registers(body))[variable.index()];
        assertThat(life).hasToString("[1,3)[5,7)");
        assertThat(life.length()).isEqualTo(4);
    }

    @Test
    void livesReachAroundLoops() {
        Function f = new Function("f", List.of(Vreg.Kind.SCALAR));
        Vreg count = f.scalar();
        Block loop = f.block();
        Block out = f.block();
        f.add(new Operation.Constant(count, 9));
        f.start(loop);
        f.add(new Alu(AluOperation.SUBTRACT, true, count, count, Operand.of(1)));
        f.add(
                new Operation.Branch(
                        sonde.bpf.insn.Condition.EQUAL,
                        true,
                        count,
                        f.parameters().getFirst(),
                        out,
                        loop));
        f.start(out);
        f.add(new Return(Operand.of(0)));
        Body body = Body.of(f);
        Interval[] lives = Interval.of(body, Subjects.registers(body));
        assertThat(lives[f.parameters().getFirst().index()]).hasToString("[0,8)");
        assertThat(lives[count.index()]).hasToString("[1,8)");
    }

    @Test
    void whatOutlivesCallsIsInTheRegistersThatDo() throws Exception {
        Function f = new Function("f", List.of(Vreg.Kind.POINTER));
        Vreg first = f.scalar();
        Vreg second = f.scalar();
        f.add(new Call(first, 14, List.of()));
        f.add(new Call(second, 5, List.of()));
        Vreg sum = f.scalar();
        f.add(new Alu(AluOperation.ADD, true, sum, first, second));
        f.add(new Return(sum));
        assertThat(Assembly.of(f, new Target(true)).dump(Stage.ALLOCATED))
                .contains("r6 = r0\n")
                .contains("r6 = r6 + r0\n");
    }

    @Test
    void valuesBeyondTheRegistersGoToMemoryByKind() throws Exception {
        Function f = new Function("f", List.of(Vreg.Kind.POINTER));
        List<Vreg> kept = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Vreg pointer = f.pointer();
            f.add(new Load(Width.U64, false, pointer, f.parameters().getFirst(), 8 * i));
            kept.add(pointer);
            Vreg number = f.scalar();
            f.add(new Call(number, 14, List.of()));
            kept.add(number);
        }
        f.add(new Call(null, 5, List.of()));
        Vreg sum = f.scalar();
        f.add(new Operation.Constant(sum, 0));
        for (Vreg one : kept) {
            f.add(new Alu(AluOperation.XOR, true, sum, sum, one));
        }
        f.add(new Return(sum));
        Compiled compiled = Compiled.of(f, new Target(true));
        Body body = compiled.body();
        assertThat(body.slots().values()).contains(Vreg.Kind.POINTER, Vreg.Kind.SCALAR);
        for (StackObject one : body.slots().keySet()) {
            assertThat(compiled.frame().offset(one) % 8).isZero();
            for (StackObject other : body.slots().keySet()) {
                if (body.slots().get(one) != body.slots().get(other)) {
                    assertThat(compiled.frame().offset(one))
                            .isNotEqualTo(compiled.frame().offset(other));
                }
            }
        }
    }

    @Test
    void slotsAreSharedByThoseWhoNeverMeet() throws Exception {
        Function f = new Function("f", List.of());
        for (int round = 0; round < 5; round++) {
            List<Vreg> kept = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                Vreg number = f.scalar();
                f.add(new Call(number, 14, List.of()));
                kept.add(number);
            }
            for (Vreg one : kept) {
                f.add(new Call(null, 5, List.of(one)));
            }
        }
        f.add(new Return(Operand.of(0)));
        Assembly assembly = Assembly.of(f, new Target(true));
        assertThat(assembly.frameBytes()).isBetween(8, 40);
    }

    @Test
    void numbersAndAddressesAreMadeAgainNotStored() throws Exception {
        Function f = new Function("f", List.of(Vreg.Kind.POINTER));
        List<Vreg> numbers = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            Vreg number = f.scalar();
            f.add(new Operation.Constant(number, (1L << 40) + i));
            numbers.add(number);
        }
        for (Vreg one : numbers) {
            f.add(new Call(null, 5, List.of()));
            f.add(new Operation.Store(Width.U64, f.parameters().getFirst(), 0, one));
        }
        f.add(new Return(Operand.of(0)));
        assertThat(Assembly.of(f, new Target(true)).frameBytes()).isZero();
    }

    @Test
    void twentyThousandOperationsTakeLessThanASecond() throws Exception {
        Function large = RandomFunction.of(1, 4500);
        int operations = large.layout().stream().mapToInt(block -> block.steps().size()).sum();
        assertThat(operations).isGreaterThan(20_000);
        Body body = Body.of(large);
        Entry.initialise(body);
        MachineForm.apply(body);
        long best = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            long begin = System.nanoTime();
            Allocation.of(body, new BitSet());
            best = Math.min(best, System.nanoTime() - begin);
        }
        assertThat(best / 1_000_000).isLessThan(1000);
    }
}
