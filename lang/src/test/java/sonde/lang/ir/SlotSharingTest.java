package sonde.lang.ir;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Width;
import sonde.lang.ir.Assembly.InstructionSet;
import sonde.lang.ir.IrOperation.IrAddress;
import sonde.lang.ir.IrOperation.IrBranch;
import sonde.lang.ir.IrOperation.IrCall;
import sonde.lang.ir.IrOperation.IrGoto;
import sonde.lang.ir.IrOperation.IrReturn;
import sonde.lang.ir.IrOperation.IrStore;

class SlotSharingTest {
    private final IrFunction f = new IrFunction("f", List.of(VirtualRegister.Kind.SCALAR));
    private final VirtualRegister number = f.parameters().getFirst();

    @Test
    void keysOfOneLookupAfterTheOtherShare() throws Exception {
        for (int i = 0; i < 20; i++) {
            StackObject key = f.object(64, 8);
            for (int at = 0; at < 64; at += 8) {
                store(key, at);
            }
            call(key);
        }
        assertThat(frameBytes()).isEqualTo(64);
    }

    @Test
    void objectsOfOneCallDoNot() throws Exception {
        StackObject from = f.object(8, 8);
        StackObject to = f.object(8, 8);
        store(from, 0);
        call(from, to);
        call(to);
        assertThat(frameBytes()).isEqualTo(16);
    }

    @Test
    void whatIsReadLaterIsKept() throws Exception {
        StackObject early = f.object(8, 8);
        StackObject late = f.object(8, 8);
        call(early);
        store(late, 0);
        call(late);
        call(early);
        assertThat(frameBytes()).isEqualTo(16);
    }

    @Test
    void whatALoopComesBackToIsKept() throws Exception {
        StackObject kept = f.object(16, 8);
        StackObject other = f.object(16, 8);
        BasicBlock loop = f.block();
        BasicBlock out = f.block();
        store(kept, 0);
        store(kept, 8);
        f.start(loop);
        call(kept);
        store(other, 0);
        store(other, 8);
        call(other);
        f.add(new IrBranch(JumpCondition.EQUAL, true, number, IrOperand.of(1), out, loop));
        f.start(out);
        assertThat(frameBytes()).isEqualTo(32);
    }

    @Test
    void pathsThatMeetKeepBoth() throws Exception {
        StackObject left = f.object(8, 8);
        StackObject right = f.object(8, 8);
        BasicBlock then = f.block();
        BasicBlock otherwise = f.block();
        BasicBlock after = f.block();
        f.add(new IrBranch(JumpCondition.EQUAL, true, number, IrOperand.of(1), then, otherwise));
        f.start(then);
        call(left);
        f.add(new IrGoto(after));
        f.start(otherwise);
        call(right);
        f.start(after);
        call(left);
        call(right);
        assertThat(frameBytes()).isEqualTo(16);
    }

    @Test
    void addressesThatGoElsewhereEndIt() throws Exception {
        StackObject context = f.object(8, 8);
        StackObject seen = f.object(8, 8);
        StackObject other = f.object(8, 8);
        VirtualRegister address = f.pointer();
        f.add(new IrAddress(address, seen, 0));
        store(seen, 0);
        f.add(new IrStore(Width.U64, context, 0, address));
        call(context);
        store(other, 0);
        call(other);
        assertThat(frameBytes()).isEqualTo(16);
    }

    private void store(StackObject object, int at) {
        f.add(new IrStore(Width.U64, object, at, number));
    }

    private void call(StackObject... objects) {
        List<IrOperand> arguments = new java.util.ArrayList<>();
        for (StackObject object : objects) {
            VirtualRegister address = f.pointer();
            f.add(new IrAddress(address, object, 0));
            arguments.add(address);
        }
        f.add(new IrCall(null, 1, arguments));
    }

    private int frameBytes() throws CompilationException {
        f.add(new IrReturn(IrOperand.of(0)));
        CompiledFunction compiled = CompiledFunction.of(f, new InstructionSet(true));
        long slots = compiled.body().slots().size();
        assertThat(slots).isZero();
        return compiled.frame().sizeBytes();
    }
}
