package sonde.lang.ir;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Width;
import sonde.lang.ir.Assembly.InstructionSet;
import sonde.lang.ir.IrOperation.IrAddress;
import sonde.lang.ir.IrOperation.IrAlu;
import sonde.lang.ir.IrOperation.IrBranch;
import sonde.lang.ir.IrOperation.IrCall;
import sonde.lang.ir.IrOperation.IrConstant;
import sonde.lang.ir.IrOperation.IrCopy;
import sonde.lang.ir.IrOperation.IrGoto;
import sonde.lang.ir.IrOperation.IrLoad;
import sonde.lang.ir.IrOperation.IrReturn;
import sonde.lang.ir.IrOperation.IrStore;

/** Each pass alone, on a function that shows what it is for. */
class PassesTest {
    private final IrFunction f =
            new IrFunction("f", List.of(VirtualRegister.Kind.SCALAR, VirtualRegister.Kind.POINTER));
    private final VirtualRegister number = f.parameters().get(0);
    private final VirtualRegister pointer = f.parameters().get(1);

    @Test
    void jumpsToJumpsAndUnreachableBlocksGo() {
        BasicBlock first = f.block();
        BasicBlock second = f.block();
        BasicBlock never = f.block();
        f.add(new IrBranch(JumpCondition.EQUAL, true, number, IrOperand.of(1), first, second));
        f.start(never);
        f.add(new IrReturn(IrOperand.of(9)));
        f.start(first);
        f.add(new IrGoto(second));
        f.start(second);
        f.add(new IrReturn(number));
        WorkingFunction body = WorkingFunction.of(f);
        assertThat(ControlFlow.simplify(body)).isTrue();
        ControlFlow.simplify(body);
        assertThat(body.toString()).isEqualTo("f:\nb0:\n  return v0\n");
    }

    @Test
    void returnsOfTheSameNumberAreOne() {
        BasicBlock one = f.block();
        BasicBlock two = f.block();
        f.add(new IrBranch(JumpCondition.EQUAL, true, number, IrOperand.of(1), one, two));
        f.start(one);
        f.add(new IrStore(Width.U64, pointer, 0, number));
        f.add(new IrReturn(IrOperand.of(0)));
        f.start(two);
        f.add(new IrReturn(IrOperand.of(0)));
        WorkingFunction body = WorkingFunction.of(f);
        ControlFlow.shareReturns(body);
        assertThat(body.toString()).containsOnlyOnce("return 0").contains("goto b1 else b3");
    }

    @Test
    void numbersGoWhereTheyAreUsed() {
        VirtualRegister seven = f.scalar();
        VirtualRegister sum = f.scalar();
        f.add(new IrConstant(seven, 7));
        f.add(new IrAlu(AluOperation.ADD, true, sum, seven, number));
        f.add(new IrStore(Width.U64, pointer, 0, seven));
        f.add(new IrCall(null, 1, List.of(seven, sum)));
        f.add(new IrReturn(seven));
        assertThat(propagated())
                .contains("v3 = v0 + 7")
                .contains("u64[p1+0] = 7")
                .contains("(7, v3)")
                .contains("return 7");
    }

    @Test
    void numbersThatFitNoInstructionStayInRegisters() {
        VirtualRegister wide = f.scalar();
        f.add(new IrConstant(wide, 1L << 40));
        f.add(new IrStore(Width.U64, pointer, 0, wide));
        f.add(new IrReturn(IrOperand.of(0)));
        WorkingFunction body = WorkingFunction.of(f);
        assertThat(ConstantPropagation.apply(body)).isFalse();
        assertThat(body.toString()).contains("u64[p1+0] = v2");
    }

    @Test
    void variablesAreKnownUntilPathsMeet() {
        VirtualRegister variable = f.register(VirtualRegister.Kind.SCALAR, "$x");
        BasicBlock other = f.block();
        BasicBlock after = f.block();
        f.add(new IrConstant(variable, 1));
        f.add(new IrStore(Width.U64, pointer, 0, variable));
        f.add(new IrBranch(JumpCondition.EQUAL, true, number, IrOperand.of(0), other, after));
        f.start(other);
        f.add(new IrStore(Width.U64, pointer, 8, variable));
        f.add(new IrConstant(variable, 2));
        f.start(after);
        f.add(new IrReturn(variable));
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
        IrFunction g =
                new IrFunction(
                        "g", List.of(VirtualRegister.Kind.SCALAR, VirtualRegister.Kind.SCALAR));
        VirtualRegister left = g.parameters().getFirst();
        return IrText.of(
                AlgebraicIdentities.of(
                        new IrAlu(operation, true, g.scalar(), left, IrOperand.of(right))));
    }

    @Test
    void masksOfWhatIsSmallGo() {
        VirtualRegister word = f.scalar();
        VirtualRegister masked = f.scalar();
        f.add(new IrLoad(Width.U32, false, word, pointer, 0));
        f.add(new IrAlu(AluOperation.AND, true, masked, word, IrOperand.of(0xffffffffL)));
        f.add(new IrReturn(masked));
        assertThat(optimised()).isEqualTo("f:\nb0:\n  v2 = u32[p1+0]\n  return v2\n");
    }

    @Test
    void offsetsAreCountedFromTheirBase() {
        StackObject object = f.object(32, 8);
        VirtualRegister address = f.pointer();
        VirtualRegister further = f.pointer();
        VirtualRegister member = f.pointer();
        VirtualRegister value = f.scalar();
        f.add(new IrAddress(address, object, 4));
        f.add(new IrAlu(AluOperation.ADD, true, further, address, IrOperand.of(12)));
        f.add(new IrAlu(AluOperation.ADD, true, member, pointer, IrOperand.of(24)));
        f.add(new IrLoad(Width.U32, false, value, member, 8));
        f.add(new IrStore(Width.U32, further, 0, value));
        f.add(new IrCall(null, 1, List.of(address)));
        f.add(new IrReturn(IrOperand.of(0)));
        assertThat(optimised())
                .contains("v5 = u32[p1+32]")
                .contains("u32[s0+16] = v5")
                .doesNotContain("p3")
                .doesNotContain("p4");
    }

    @Test
    void knownConditionsAreDecidedInTheBlockBefore() {
        VirtualRegister truth = f.scalar();
        BasicBlock yes = f.block();
        BasicBlock test = f.block();
        BasicBlock then = f.block();
        BasicBlock otherwise = f.block();
        f.add(new IrConstant(truth, 0));
        f.add(new IrBranch(JumpCondition.GREATER, true, number, IrOperand.of(5), yes, test));
        f.start(yes);
        f.add(new IrConstant(truth, 1));
        f.start(test);
        f.add(new IrBranch(JumpCondition.NOT_EQUAL, true, truth, IrOperand.of(0), then, otherwise));
        f.start(then);
        f.add(new IrReturn(IrOperand.of(10)));
        f.start(otherwise);
        f.add(new IrReturn(IrOperand.of(20)));
        assertThat(optimised()).contains("if v0 > 5 goto").containsOnlyOnce("if ");
    }

    @Test
    void copiesOfWhatIsWrittenOnceAreOne() {
        VirtualRegister named = f.register(VirtualRegister.Kind.SCALAR, "$x");
        VirtualRegister read = f.scalar();
        f.add(new IrLoad(Width.U64, false, read, pointer, 0));
        f.add(new IrCopy(named, read));
        f.add(new IrReturn(named));
        WorkingFunction body = WorkingFunction.of(f);
        assertThat(CopyCoalescing.remove(body)).isTrue();
        assertThat(body.toString()).isEqualTo("f:\nb0:\n  v2 = u64[p1+0]\n  return v2\n");
    }

    @Test
    void checksStayOnTheRegisterOfTheAccess() {
        VirtualRegister variable = f.register(VirtualRegister.Kind.SCALAR, "$n");
        VirtualRegister copy = f.scalar();
        BasicBlock inside = f.block();
        BasicBlock out = f.block();
        f.add(new IrConstant(variable, 1));
        f.add(new IrCopy(variable, number));
        f.add(new IrCopy(copy, variable));
        f.add(new IrBranch(JumpCondition.LESS, true, copy, IrOperand.of(8), inside, out));
        f.start(inside);
        f.add(new IrConstant(variable, 3));
        f.add(new IrStore(Width.U64, pointer, 0, copy));
        f.start(out);
        f.add(new IrReturn(variable));
        WorkingFunction body = WorkingFunction.of(f);
        CopyCoalescing.remove(body);
        // One reader of the copy comes behind a write of the variable: none of them changes.
        assertThat(body.toString()).contains("if v3 < 8").contains("u64[p1+0] = v3");
    }

    @Test
    void whatNobodyReadsGoes() {
        VirtualRegister unread = f.scalar();
        VirtualRegister result = f.scalar();
        StackObject object = f.object(8, 8);
        f.add(new IrLoad(Width.U64, false, unread, pointer, 0));
        f.add(new IrStore(Width.U64, object, 0, unread));
        f.add(new IrCall(result, 14, List.of()));
        f.add(new IrReturn(IrOperand.of(0)));
        WorkingFunction body = WorkingFunction.of(f);
        assertThat(DeadSteps.remove(body)).isTrue();
        assertThat(body.toString())
                .isEqualTo("f:\nb0:\n  bpf_get_current_pid_tgid()\n  return 0\n");
    }

    @Test
    void whatMayBeReadFirstIsZero() {
        VirtualRegister variable = f.register(VirtualRegister.Kind.SCALAR, "$x");
        BasicBlock write = f.block();
        BasicBlock after = f.block();
        f.add(new IrBranch(JumpCondition.EQUAL, true, number, IrOperand.of(1), write, after));
        f.start(write);
        f.add(new IrConstant(variable, 5));
        f.start(after);
        f.add(new IrReturn(variable));
        WorkingFunction body = WorkingFunction.of(f);
        EntryInitialisation.initialise(body);
        assertThat(body.toString()).startsWith("f:\nb3:\n  v2 = 0\n  goto b0\n");
    }

    @Test
    void signsTakeShiftsBeforeIsa4() {
        VirtualRegister value = f.scalar();
        f.add(new IrLoad(Width.U16, true, value, pointer, 0));
        f.add(new IrReturn(value));
        WorkingFunction old = WorkingFunction.of(f);
        Legalisation.apply(old, false);
        assertThat(old.toString()).contains("v2 = u16[p1+0]\n  v2 = v2 << 48\n  v2 = v2 s>> 48\n");
        WorkingFunction current = WorkingFunction.of(f);
        Legalisation.apply(current, true);
        assertThat(current.toString()).contains("v2 = s16[p1+0]");
    }

    @Test
    void signedDivisionTakesBranchesBeforeIsa4() {
        VirtualRegister value = f.scalar();
        f.add(new IrAlu(AluOperation.SIGNED_DIVIDE, true, value, number, IrOperand.of(-7)));
        f.add(new IrReturn(value));
        WorkingFunction old = WorkingFunction.of(f);
        Legalisation.apply(old, false);
        assertThat(old.toString()).contains(" / 7\n").contains(" ^ -1\n").doesNotContain("s/");
        WorkingFunction current = WorkingFunction.of(f);
        Legalisation.apply(current, true);
        assertThat(current.toString()).contains("v2 = v0 s/ -7");
    }

    @Test
    void resultsLieWhereTheLeftSideWas() {
        VirtualRegister value = f.scalar();
        VirtualRegister other = f.scalar();
        f.add(new IrAlu(AluOperation.SUBTRACT, true, value, number, IrOperand.of(1)));
        f.add(new IrAlu(AluOperation.SUBTRACT, true, value, number, value));
        f.add(new IrCall(other, 5, List.of(value, IrOperand.of(2))));
        f.add(new IrReturn(other));
        WorkingFunction body = WorkingFunction.of(f);
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
        WorkingFunction body = WorkingFunction.of(f);
        assertThat(ConstantPropagation.apply(body)).isTrue();
        return body.toString();
    }

    private String optimised() {
        return CompiledFunction.of(f, new InstructionSet(true)).optimised();
    }
}
