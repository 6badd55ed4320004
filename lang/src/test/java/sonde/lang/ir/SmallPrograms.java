package sonde.lang.ir;

import java.util.List;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Width;
import sonde.lang.ir.IrOperation.IrAddress;
import sonde.lang.ir.IrOperation.IrAlu;
import sonde.lang.ir.IrOperation.IrAtomic;
import sonde.lang.ir.IrOperation.IrBranch;
import sonde.lang.ir.IrOperation.IrCall;
import sonde.lang.ir.IrOperation.IrConstant;
import sonde.lang.ir.IrOperation.IrCopy;
import sonde.lang.ir.IrOperation.IrGoto;
import sonde.lang.ir.IrOperation.IrLoad;
import sonde.lang.ir.IrOperation.IrReturn;
import sonde.lang.ir.IrOperation.IrStore;
import sonde.lang.ir.IrOperation.MapAddress;

/** Typical programs of raw tracepoints, lowered without care, as a compiler does it. */
final class SmallPrograms {
    private static final int GET_CURRENT_UID_GID = 15;
    private static final int GET_CURRENT_COMM = 16;

    private final IrFunction f = new IrFunction("program", List.of(VirtualRegister.Kind.POINTER));
    private final VirtualRegister context = f.parameters().getFirst();

    private SmallPrograms() {}

    /** Counts events by process. */
    static IrFunction count() {
        SmallPrograms p = new SmallPrograms();
        VirtualRegister pid = p.alu(AluOperation.SHIFT_RIGHT, p.call(14), 32);
        StackObject key = p.f.object(8, 8);
        p.store(key, 0, pid);
        VirtualRegister value = p.lookup("counts", key);
        BasicBlock hit = p.f.block();
        BasicBlock miss = p.f.block();
        BasicBlock done = p.f.block();
        p.branch(JumpCondition.EQUAL, value, 0, miss, hit);
        p.f.start(hit);
        VirtualRegister more = p.alu(AluOperation.ADD, p.load(Width.U64, value, 0), 1);
        p.store(value, 0, more);
        p.f.add(new IrGoto(done));
        p.f.start(miss);
        StackObject one = p.f.object(8, 8);
        p.store(one, 0, p.constant(1));
        p.update("counts", key, one, 0);
        p.f.start(done);
        p.f.add(new IrReturn(IrOperand.of(0)));
        return p.f;
    }

    /** Reports two system calls of all processes but one. */
    static IrFunction filter() {
        SmallPrograms p = new SmallPrograms();
        BasicBlock out = p.f.block();
        BasicBlock or = p.f.block();
        BasicBlock yes = p.f.block();
        BasicBlock report = p.f.block();
        VirtualRegister id = p.f.register(VirtualRegister.Kind.SCALAR, "$id");
        p.f.add(new IrCopy(id, p.load(Width.U64, p.context, 8)));
        p.branch(JumpCondition.EQUAL, id, 257, yes, or);
        p.f.start(or);
        p.branch(JumpCondition.EQUAL, id, 2, yes, out);
        p.f.start(yes);
        VirtualRegister pid = p.alu(AluOperation.SHIFT_RIGHT, p.call(14), 32);
        p.branch(JumpCondition.EQUAL, pid, 1234, out, report);
        p.f.start(report);
        StackObject event = p.f.object(40, 8);
        p.store(event, 0, p.call(HelperFunctionId.KTIME_GET_NS));
        p.store(event, 8, id);
        p.f.add(new IrStore(Width.U32, event, 16, p.call(14)));
        p.f.add(new IrStore(Width.U32, event, 20, p.call(GET_CURRENT_UID_GID)));
        VirtualRegister name = p.address(event);
        VirtualRegister inside = p.f.pointer();
        p.f.add(new IrAlu(AluOperation.ADD, true, inside, name, IrOperand.of(24)));
        p.f.add(new IrCall(null, GET_CURRENT_COMM, List.of(inside, IrOperand.of(16))));
        p.f.add(
                new IrCall(
                        null,
                        HelperFunctionId.RINGBUF_OUTPUT,
                        List.of(p.map("ring"), name, IrOperand.of(40), IrOperand.of(0))));
        p.f.start(out);
        p.f.add(new IrReturn(IrOperand.of(0)));
        return p.f;
    }

    /** Puts the time since a start into a histogram of powers of two. */
    static IrFunction latency() {
        SmallPrograms p = new SmallPrograms();
        BasicBlock found = p.f.block();
        BasicBlock out = p.f.block();
        StackObject key = p.f.object(8, 8);
        p.store(key, 0, p.alu(AluOperation.AND, p.call(14), 0xffffffffL));
        VirtualRegister start = p.lookup("starts", key);
        p.branch(JumpCondition.EQUAL, start, 0, out, found);
        p.f.start(found);
        VirtualRegister elapsed = p.f.register(VirtualRegister.Kind.SCALAR, "$d");
        VirtualRegister bucket = p.f.register(VirtualRegister.Kind.SCALAR, "$b");
        VirtualRegister now = p.call(HelperFunctionId.KTIME_GET_NS);
        VirtualRegister nanos = p.f.scalar();
        p.f.add(new IrAlu(AluOperation.SUBTRACT, true, nanos, now, p.load(Width.U64, start, 0)));
        p.f.add(new IrCopy(elapsed, p.alu(AluOperation.DIVIDE, nanos, 1000)));
        p.f.add(new IrConstant(bucket, 0));
        for (int bits = 16; bits >= 1; bits /= 2) {
            BasicBlock halve = p.f.block();
            BasicBlock next = p.f.block();
            p.branch(JumpCondition.GREATER_OR_EQUAL, elapsed, 1L << bits, halve, next);
            p.f.start(halve);
            if (bits > 1) {
                p.f.add(new IrCopy(elapsed, p.alu(AluOperation.SHIFT_RIGHT, elapsed, bits)));
            }
            p.f.add(new IrCopy(bucket, p.alu(AluOperation.ADD, bucket, bits)));
            p.f.start(next);
        }
        StackObject slot = p.f.object(8, 8);
        p.store(slot, 0, bucket);
        VirtualRegister value = p.lookup("hist", slot);
        BasicBlock hit = p.f.block();
        BasicBlock miss = p.f.block();
        BasicBlock done = p.f.block();
        p.branch(JumpCondition.EQUAL, value, 0, miss, hit);
        p.f.start(hit);
        p.f.add(
                new IrAtomic(
                        sonde.bpf.insn.AtomicOperation.ADD,
                        Width.U64,
                        value,
                        0,
                        p.constant(1),
                        null));
        p.f.add(new IrGoto(done));
        p.f.start(miss);
        StackObject one = p.f.object(8, 8);
        p.store(one, 0, p.constant(1));
        p.update("hist", slot, one, 1);
        p.f.start(done);
        p.f.add(
                new IrCall(
                        null,
                        HelperFunctionId.MAP_DELETE_ELEM,
                        List.of(p.map("starts"), p.address(key))));
        p.f.start(out);
        p.f.add(new IrReturn(IrOperand.of(0)));
        return p.f;
    }

    /** Follows pointers of the kernel and keeps the greatest value. */
    static IrFunction chase() {
        SmallPrograms p = new SmallPrograms();
        BasicBlock out = p.f.block();
        BasicBlock positive = p.f.block();
        BasicBlock small = p.f.block();
        VirtualRegister task = p.load(Width.U64, p.context, 0);
        VirtualRegister next = p.read(p.alu(AluOperation.ADD, task, 1416), Width.U64);
        VirtualRegister number = p.f.register(VirtualRegister.Kind.SCALAR, "$n");
        p.f.add(new IrCopy(number, p.read(p.alu(AluOperation.ADD, next, 40), Width.U32)));
        p.f.add(
                new IrBranch(
                        JumpCondition.SIGNED_LESS, false, number, IrOperand.of(0), out, positive));
        p.f.start(positive);
        p.branch(JumpCondition.GREATER, number, 100, out, small);
        p.f.start(small);
        StackObject key = p.f.object(8, 8);
        p.store(key, 0, number);
        VirtualRegister now = p.load(Width.U64, p.context, 16);
        StackObject fresh = p.f.object(8, 8);
        p.store(fresh, 0, now);
        VirtualRegister value = p.lookup("counts", key);
        BasicBlock hit = p.f.block();
        BasicBlock miss = p.f.block();
        BasicBlock greater = p.f.block();
        p.branch(JumpCondition.EQUAL, value, 0, miss, hit);
        p.f.start(hit);
        VirtualRegister old = p.load(Width.U64, value, 0);
        p.f.add(new IrBranch(JumpCondition.GREATER, true, now, old, greater, out));
        p.f.start(greater);
        p.store(value, 0, now);
        p.f.add(new IrGoto(out));
        p.f.start(miss);
        p.update("counts", key, fresh, 0);
        p.f.start(out);
        p.f.add(new IrReturn(IrOperand.of(0)));
        return p.f;
    }

    /** Adds up values of a map. */
    static IrFunction loop() {
        SmallPrograms p = new SmallPrograms();
        VirtualRegister sum = p.f.register(VirtualRegister.Kind.SCALAR, "$sum");
        VirtualRegister most = p.f.register(VirtualRegister.Kind.SCALAR, "$n");
        VirtualRegister i = p.f.register(VirtualRegister.Kind.SCALAR, "$i");
        StackObject key = p.f.object(8, 8);
        p.f.add(new IrConstant(sum, 0));
        p.f.add(new IrCopy(most, p.load(Width.U64, p.context, 0)));
        BasicBlock cut = p.f.block();
        BasicBlock head = p.f.block();
        BasicBlock body = p.f.block();
        BasicBlock found = p.f.block();
        BasicBlock out = p.f.block();
        p.f.add(new IrConstant(i, 0));
        p.branch(JumpCondition.GREATER, most, 50, cut, head);
        p.f.start(cut);
        p.f.add(new IrConstant(most, 50));
        p.f.start(head);
        p.f.add(new IrBranch(JumpCondition.LESS, true, i, most, body, out));
        p.f.start(body);
        p.store(key, 0, i);
        VirtualRegister value = p.lookup("counts", key);
        p.branch(JumpCondition.EQUAL, value, 0, out, found);
        p.f.start(found);
        VirtualRegister product = p.f.scalar();
        VirtualRegister read = p.load(Width.U64, value, 0);
        p.f.add(new IrAlu(AluOperation.MULTIPLY, true, product, read, i));
        VirtualRegister more = p.f.scalar();
        p.f.add(new IrAlu(AluOperation.ADD, true, more, sum, product));
        p.f.add(new IrCopy(sum, more));
        p.f.add(new IrCopy(i, p.alu(AluOperation.ADD, i, 1)));
        p.f.add(new IrGoto(head));
        p.f.start(out);
        VirtualRegister result = p.f.scalar();
        BasicBlock yes = p.f.block();
        BasicBlock end = p.f.block();
        p.f.add(new IrConstant(result, 0));
        p.branch(JumpCondition.GREATER, sum, 1000, yes, end);
        p.f.start(yes);
        p.f.add(new IrConstant(result, 1));
        p.f.start(end);
        p.f.add(new IrReturn(result));
        return p.f;
    }

    private VirtualRegister constant(long value) {
        VirtualRegister to = f.scalar();
        f.add(new IrConstant(to, value));
        return to;
    }

    private VirtualRegister call(int helper) {
        VirtualRegister to = f.scalar();
        f.add(new IrCall(to, helper, List.of()));
        return to;
    }

    private VirtualRegister alu(AluOperation operation, VirtualRegister left, long right) {
        VirtualRegister to = f.scalar();
        f.add(new IrAlu(operation, true, to, left, constant(right)));
        return to;
    }

    private VirtualRegister load(Width width, AccessAnchor base, int offset) {
        VirtualRegister to = f.scalar();
        f.add(new IrLoad(width, false, to, base, offset));
        return to;
    }

    private void store(AccessAnchor base, int offset, VirtualRegister from) {
        f.add(new IrStore(Width.U64, base, offset, from));
    }

    private VirtualRegister address(StackObject object) {
        VirtualRegister to = f.pointer();
        f.add(new IrAddress(to, object, 0));
        return to;
    }

    private VirtualRegister map(String name) {
        VirtualRegister to = f.pointer();
        f.add(new MapAddress(to, name));
        return to;
    }

    private VirtualRegister lookup(String name, StackObject key) {
        VirtualRegister map = map(name);
        VirtualRegister value = f.pointer();
        f.add(new IrCall(value, HelperFunctionId.MAP_LOOKUP_ELEM, List.of(map, address(key))));
        return value;
    }

    private void update(String name, StackObject key, StackObject value, int flags) {
        VirtualRegister map = map(name);
        f.add(
                new IrCall(
                        null,
                        HelperFunctionId.MAP_UPDATE_ELEM,
                        List.of(map, address(key), address(value), IrOperand.of(flags))));
    }

    private VirtualRegister read(VirtualRegister from, Width width) {
        StackObject buffer = f.object(8, 8);
        f.add(new IrStore(Width.U64, buffer, 0, IrOperand.of(0)));
        f.add(
                new IrCall(
                        null,
                        HelperFunctionId.PROBE_READ_KERNEL,
                        List.of(address(buffer), IrOperand.of(width.bytes()), from)));
        return load(width, buffer, 0);
    }

    private void branch(
            JumpCondition condition,
            VirtualRegister left,
            long right,
            BasicBlock then,
            BasicBlock otherwise) {
        f.add(new IrBranch(condition, true, left, constant(right), then, otherwise));
    }
}
