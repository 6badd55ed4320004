package sonde.lang.ir;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.Condition;
import sonde.bpf.insn.Width;
import sonde.lang.ir.Operation.Address;
import sonde.lang.ir.Operation.Alu;
import sonde.lang.ir.Operation.Branch;
import sonde.lang.ir.Operation.Call;
import sonde.lang.ir.Operation.Constant;
import sonde.lang.ir.Operation.Copy;
import sonde.lang.ir.Operation.Goto;
import sonde.lang.ir.Operation.Load;
import sonde.lang.ir.Operation.Return;
import sonde.lang.ir.Operation.Store;

/** Each pass alone, on a function that shows what it is for. */
class PassesTest {
    private final Function f = new Function("f", List.of(Vreg.Kind.SCALAR, Vreg.Kind.POINTER));
    private final Vreg number = f.parameters().get(0);
    private final Vreg pointer = f.parameters().get(1);

    @Test
    void jumpsToJumpsAndUnreachableBlocksGo() {
        Block first = f.block();
        Block second = f.block();
        Block never = f.block();
        f.add(new Branch(Condition.EQUAL, true, number, Operand.of(1), first, second));
        f.start(never);
        f.add(new Return(Operand.of(9)));
        f.start(first);
        f.add(new Goto(second));
        f.start(second);
        f.add(new Return(number));
        Body body = Body.of(f);
        assertThat(ControlFlow.simplify(body)).isTrue();
        ControlFlow.simplify(body);
        assertThat(body.toString()).isEqualTo("f:\nb0:\n  return v0\n");
    }

    @Test
    void returnsOfTheSameNumberAreOne() {
        Block one = f.block();
        Block two = f.block();
        f.add(new Branch(Condition.EQUAL, true, number, Operand.of(1), one, two));
        f.start(one);
        f.add(new Store(Width.U64, pointer, 0, number));
        f.add(new Return(Operand.of(0)));
        f.start(two);
        f.add(new Return(Operand.of(0)));
        Body body = Body.of(f);
        ControlFlow.shareReturns(body);
        assertThat(body.toString()).containsOnlyOnce("return 0").contains("goto b1 else b3");
    }

    @Test
    void numbersGoWhereTheyAreUsed() {
        Vreg seven = f.scalar();
        Vreg sum = f.scalar();
        f.add(new Constant(seven, 7));
        f.add(new Alu(AluOperation.ADD, true, sum, seven, number));
        f.add(new Store(Width.U64, pointer, 0, seven));
        f.add(new Call(null, 1, List.of(seven, sum)));
        f.add(new Return(seven));
        assertThat(propagated())
                .contains("v3 = v0 + 7")
                .contains("u64[p1+0] = 7")
                .contains("(7, v3)")
                .contains("return 7");
    }

    @Test
    void numbersThatFitNoInstructionStayInRegisters() {
        Vreg wide = f.scalar();
        f.add(new Constant(wide, 1L << 40));
        f.add(new Store(Width.U64, pointer, 0, wide));
        f.add(new Return(Operand.of(0)));
        Body body = Body.of(f);
        assertThat(Propagation.apply(body)).isFalse();
        assertThat(body.toString()).contains("u64[p1+0] = v2");
    }

    @Test
    void variablesAreKnownUntilPathsMeet() {
        Vreg variable = f.register(Vreg.Kind.SCALAR, "$x");
        Block other = f.block();
        Block after = f.block();
        f.add(new Constant(variable, 1));
        f.add(new Store(Width.U64, pointer, 0, variable));
        f.add(new Branch(Condition.EQUAL, true, number, Operand.of(0), other, after));
        f.start(other);
        f.add(new Store(Width.U64, pointer, 8, variable));
        f.add(new Constant(variable, 2));
        f.start(after);
        f.add(new Return(variable));
        assertThat(propagated())
                .contains("u64[p1+0] = 1")
                .contains("u64[p1+8] = 1")
                .contains("return v2");
    }

    @Test
    void arithmeticBecomesCheaper() {
        assertThat(simplified(AluOperation.MULTIPLY, 8)).isEqualTo("v2 = v0 << 3");
        assertThat(simplified(AluOperation.DIVIDE, 4096)).isEqualTo("v2 = v0 >> 12");
        assertThat(simplified(AluOperation.DIVIDE, 0)).isEqualTo("v2 = 0");
        assertThat(simplified(AluOperation.REMAINDER, 64)).isEqualTo("v2 = v0 & 63");
        assertThat(simplified(AluOperation.REMAINDER, 0)).isEqualTo("v2 = v0");
        assertThat(simplified(AluOperation.SIGNED_DIVIDE, 4)).isEqualTo("v2 = v0 s/ 4");
        assertThat(simplified(AluOperation.SUBTRACT, 3)).isEqualTo("v2 = v0 + -3");
        assertThat(simplified(AluOperation.SUBTRACT, Integer.MIN_VALUE))
                .isEqualTo("v2 = v0 - -2147483648");
        assertThat(simplified(AluOperation.AND, 0xffffffffL)).isEqualTo("v2 = v0  (32) v0");
        assertThat(simplified(AluOperation.SHIFT_LEFT, 64)).isEqualTo("v2 = v0");
        assertThat(simplified(AluOperation.SHIFT_LEFT, 65)).isEqualTo("v2 = v0 << 1");
    }

    private static String simplified(AluOperation operation, long right) {
        Function g = new Function("g", List.of(Vreg.Kind.SCALAR, Vreg.Kind.SCALAR));
        Vreg left = g.parameters().getFirst();
        return IrText.of(
                Identities.of(new Alu(operation, true, g.scalar(), left, Operand.of(right))));
    }

    @Test
    void masksOfWhatIsSmallGo() {
        Vreg word = f.scalar();
        Vreg masked = f.scalar();
        f.add(new Load(Width.U32, false, word, pointer, 0));
        f.add(new Alu(AluOperation.AND, true, masked, word, Operand.of(0xffffffffL)));
        f.add(new Return(masked));
        assertThat(optimised()).isEqualTo("f:\nb0:\n  v2 = u32[p1+0]\n  return v2\n");
    }

    @Test
    void offsetsAreCountedFromTheirBase() {
        StackObject object = f.object(32, 8);
        Vreg address = f.pointer();
        Vreg further = f.pointer();
        Vreg member = f.pointer();
        Vreg value = f.scalar();
        f.add(new Address(address, object, 4));
        f.add(new Alu(AluOperation.ADD, true, further, address, Operand.of(12)));
        f.add(new Alu(AluOperation.ADD, true, member, pointer, Operand.of(24)));
        f.add(new Load(Width.U32, false, value, member, 8));
        f.add(new Store(Width.U32, further, 0, value));
        f.add(new Call(null, 1, List.of(address)));
        f.add(new Return(Operand.of(0)));
        assertThat(optimised())
                .contains("v5 = u32[p1+32]")
                .contains("u32[s0+16] = v5")
                .doesNotContain("p3")
                .doesNotContain("p4");
    }

    @Test
    void knownConditionsAreDecidedInTheBlockBefore() {
        Vreg truth = f.scalar();
        Block yes = f.block();
        Block test = f.block();
        Block then = f.block();
        Block otherwise = f.block();
        f.add(new Constant(truth, 0));
        f.add(new Branch(Condition.GREATER, true, number, Operand.of(5), yes, test));
        f.start(yes);
        f.add(new Constant(truth, 1));
        f.start(test);
        f.add(new Branch(Condition.NOT_EQUAL, true, truth, Operand.of(0), then, otherwise));
        f.start(then);
        f.add(new Return(Operand.of(10)));
        f.start(otherwise);
        f.add(new Return(Operand.of(20)));
        assertThat(optimised()).contains("if v0 > 5 goto").containsOnlyOnce("if ");
    }

    @Test
    void copiesOfWhatIsWrittenOnceAreOne() {
        Vreg named = f.register(Vreg.Kind.SCALAR, "$x");
        Vreg read = f.scalar();
        f.add(new Load(Width.U64, false, read, pointer, 0));
        f.add(new Copy(named, read));
        f.add(new Return(named));
        Body body = Body.of(f);
        assertThat(Copies.remove(body)).isTrue();
        assertThat(body.toString()).isEqualTo("f:\nb0:\n  v2 = u64[p1+0]\n  return v2\n");
    }

    @Test
    void checksStayOnTheRegisterOfTheAccess() {
        Vreg variable = f.register(Vreg.Kind.SCALAR, "$n");
        Vreg copy = f.scalar();
        Block inside = f.block();
        Block out = f.block();
        f.add(new Constant(variable, 1));
        f.add(new Copy(variable, number));
        f.add(new Copy(copy, variable));
        f.add(new Branch(Condition.LESS, true, copy, Operand.of(8), inside, out));
        f.start(inside);
        f.add(new Constant(variable, 3));
        f.add(new Store(Width.U64, pointer, 0, copy));
        f.start(out);
        f.add(new Return(variable));
        Body body = Body.of(f);
        Copies.remove(body);
        // One reader of the copy comes behind a write of the variable: none of them changes.
        assertThat(body.toString()).contains("if v3 < 8").contains("u64[p1+0] = v3");
    }

    @Test
    void whatNobodyReadsGoes() {
        Vreg unread = f.scalar();
        Vreg result = f.scalar();
        StackObject object = f.object(8, 8);
        f.add(new Load(Width.U64, false, unread, pointer, 0));
        f.add(new Store(Width.U64, object, 0, unread));
        f.add(new Call(result, 14, List.of()));
        f.add(new Return(Operand.of(0)));
        Body body = Body.of(f);
        assertThat(DeadSteps.remove(body)).isTrue();
        assertThat(body.toString())
                .isEqualTo("f:\nb0:\n  bpf_get_current_pid_tgid()\n  return 0\n");
    }

    @Test
    void whatMayBeReadFirstIsZero() {
        Vreg variable = f.register(Vreg.Kind.SCALAR, "$x");
        Block write = f.block();
        Block after = f.block();
        f.add(new Branch(Condition.EQUAL, true, number, Operand.of(1), write, after));
        f.start(write);
        f.add(new Constant(variable, 5));
        f.start(after);
        f.add(new Return(variable));
        Body body = Body.of(f);
        Entry.initialise(body);
        assertThat(body.toString()).startsWith("f:\nb3:\n  v2 = 0\n  goto b0\n");
    }

    @Test
    void signsTakeShiftsBeforeIsa4() {
        Vreg value = f.scalar();
        f.add(new Load(Width.U16, true, value, pointer, 0));
        f.add(new Return(value));
        Body old = Body.of(f);
        Legalisation.apply(old, false);
        assertThat(old.toString()).contains("v2 = u16[p1+0]\n  v2 = v2 << 48\n  v2 = v2 s>> 48\n");
        Body current = Body.of(f);
        Legalisation.apply(current, true);
        assertThat(current.toString()).contains("v2 = s16[p1+0]");
    }

    @Test
    void signedDivisionTakesBranchesBeforeIsa4() {
        Vreg value = f.scalar();
        f.add(new Alu(AluOperation.SIGNED_DIVIDE, true, value, number, Operand.of(-7)));
        f.add(new Return(value));
        Body old = Body.of(f);
        Legalisation.apply(old, false);
        assertThat(old.toString()).contains(" / 7\n").contains(" ^ -1\n").doesNotContain("s/");
        Body current = Body.of(f);
        Legalisation.apply(current, true);
        assertThat(current.toString()).contains("v2 = v0 s/ -7");
    }

    @Test
    void resultsLieWhereTheLeftSideWas() {
        Vreg value = f.scalar();
        Vreg other = f.scalar();
        f.add(new Alu(AluOperation.SUBTRACT, true, value, number, Operand.of(1)));
        f.add(new Alu(AluOperation.SUBTRACT, true, value, number, value));
        f.add(new Call(other, 5, List.of(value, Operand.of(2))));
        f.add(new Return(other));
        Body body = Body.of(f);
        MachineForm.apply(body);
        assertThat(body.toString())
                .isEqualTo(
                        """
                        f:
                        b0:
                          v0 = r1
                          v2 = v0
                          v2 = v2 - 1
                          v10 = v0
                          v10 = v10 - v2
                          v2 = v10
                          r1 = v2
                          r2 = 2
                          r0 = bpf_ktime_get_ns(r1, r2)
                          v3 = r0
                          r0 = v3
                          return r0
                        """);
    }

    private String propagated() {
        Body body = Body.of(f);
        assertThat(Propagation.apply(body)).isTrue();
        return body.toString();
    }

    private String optimised() {
        return Compiled.of(f, new Assembly.Target(true)).optimised();
    }
}
