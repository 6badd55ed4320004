package sonde.lang.ir;

import java.util.List;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.Condition;
import sonde.bpf.insn.KernelFunction;
import sonde.bpf.insn.Width;
import sonde.lang.ir.Operation.Address;
import sonde.lang.ir.Operation.Alu;
import sonde.lang.ir.Operation.Branch;
import sonde.lang.ir.Operation.Call;
import sonde.lang.ir.Operation.Constant;
import sonde.lang.ir.Operation.Copy;
import sonde.lang.ir.Operation.Goto;
import sonde.lang.ir.Operation.Load;
import sonde.lang.ir.Operation.MapAddress;
import sonde.lang.ir.Operation.Return;
import sonde.lang.ir.Operation.Store;

/** Typical programs of raw tracepoints, lowered without care, as a compiler does it. */
final class SmallPrograms {
    private static final int GET_CURRENT_UID_GID = 15;
    private static final int GET_CURRENT_COMM = 16;

    private final Function f = new Function("program", List.of(Vreg.Kind.POINTER));
    private final Vreg context = f.parameters().getFirst();

    private SmallPrograms() {}

    /** Counts events by process. */
    static Function count() {
        SmallPrograms p = new SmallPrograms();
        Vreg pid = p.alu(AluOperation.SHIFT_RIGHT, p.call(14), 32);
        StackObject key = p.f.object(8, 8);
        p.store(key, 0, pid);
        Vreg value = p.lookup("counts", key);
        Block hit = p.f.block();
        Block miss = p.f.block();
        Block done = p.f.block();
        p.branch(Condition.EQUAL, value, 0, miss, hit);
        p.f.start(hit);
        Vreg more = p.alu(AluOperation.ADD, p.load(Width.U64, value, 0), 1);
        p.store(value, 0, more);
        p.f.add(new Goto(done));
        p.f.start(miss);
        StackObject one = p.f.object(8, 8);
        p.store(one, 0, p.constant(1));
        p.update("counts", key, one, 0);
        p.f.start(done);
        p.f.add(new Return(Operand.of(0)));
        return p.f;
    }

    /** Reports two system calls of all processes but one. */
    static Function filter() {
        SmallPrograms p = new SmallPrograms();
        Block out = p.f.block();
        Block or = p.f.block();
        Block yes = p.f.block();
        Block report = p.f.block();
        Vreg id = p.f.register(Vreg.Kind.SCALAR, "$id");
        p.f.add(new Copy(id, p.load(Width.U64, p.context, 8)));
        p.branch(Condition.EQUAL, id, 257, yes, or);
        p.f.start(or);
        p.branch(Condition.EQUAL, id, 2, yes, out);
        p.f.start(yes);
        Vreg pid = p.alu(AluOperation.SHIFT_RIGHT, p.call(14), 32);
        p.branch(Condition.EQUAL, pid, 1234, out, report);
        p.f.start(report);
        StackObject event = p.f.object(40, 8);
        p.store(event, 0, p.call(KernelFunction.KTIME_GET_NS));
        p.store(event, 8, id);
        p.f.add(new Store(Width.U32, event, 16, p.call(14)));
        p.f.add(new Store(Width.U32, event, 20, p.call(GET_CURRENT_UID_GID)));
        Vreg name = p.address(event);
        Vreg inside = p.f.pointer();
        p.f.add(new Alu(AluOperation.ADD, true, inside, name, Operand.of(24)));
        p.f.add(new Call(null, GET_CURRENT_COMM, List.of(inside, Operand.of(16))));
        p.f.add(
                new Call(
                        null,
                        KernelFunction.RINGBUF_OUTPUT,
                        List.of(p.map("ring"), name, Operand.of(40), Operand.of(0))));
        p.f.start(out);
        p.f.add(new Return(Operand.of(0)));
        return p.f;
    }

    /** Puts the time since a start into a histogram of powers of two. */
    static Function latency() {
        SmallPrograms p = new SmallPrograms();
        Block found = p.f.block();
        Block out = p.f.block();
        StackObject key = p.f.object(8, 8);
        p.store(key, 0, p.alu(AluOperation.AND, p.call(14), 0xffffffffL));
        Vreg start = p.lookup("starts", key);
        p.branch(Condition.EQUAL, start, 0, out, found);
        p.f.start(found);
        Vreg elapsed = p.f.register(Vreg.Kind.SCALAR, "$d");
        Vreg bucket = p.f.register(Vreg.Kind.SCALAR, "$b");
        Vreg now = p.call(KernelFunction.KTIME_GET_NS);
        Vreg nanos = p.f.scalar();
        p.f.add(new Alu(AluOperation.SUBTRACT, true, nanos, now, p.load(Width.U64, start, 0)));
        p.f.add(new Copy(elapsed, p.alu(AluOperation.DIVIDE, nanos, 1000)));
        p.f.add(new Constant(bucket, 0));
        for (int bits = 16; bits >= 1; bits /= 2) {
            Block halve = p.f.block();
            Block next = p.f.block();
            p.branch(Condition.GREATER_OR_EQUAL, elapsed, 1L << bits, halve, next);
            p.f.start(halve);
            if (bits > 1) {
                p.f.add(new Copy(elapsed, p.alu(AluOperation.SHIFT_RIGHT, elapsed, bits)));
            }
            p.f.add(new Copy(bucket, p.alu(AluOperation.ADD, bucket, bits)));
            p.f.start(next);
        }
        StackObject slot = p.f.object(8, 8);
        p.store(slot, 0, bucket);
        Vreg value = p.lookup("hist", slot);
        Block hit = p.f.block();
        Block miss = p.f.block();
        Block done = p.f.block();
        p.branch(Condition.EQUAL, value, 0, miss, hit);
        p.f.start(hit);
        p.f.add(
                new Operation.Atomic(
                        sonde.bpf.insn.AtomicOperation.ADD,
                        Width.U64,
                        value,
                        0,
                        p.constant(1),
                        null));
        p.f.add(new Goto(done));
        p.f.start(miss);
        StackObject one = p.f.object(8, 8);
        p.store(one, 0, p.constant(1));
        p.update("hist", slot, one, 1);
        p.f.start(done);
        p.f.add(
                new Call(
                        null,
                        KernelFunction.MAP_DELETE_ELEM,
                        List.of(p.map("starts"), p.address(key))));
        p.f.start(out);
        p.f.add(new Return(Operand.of(0)));
        return p.f;
    }

    /** Follows pointers of the kernel and keeps the greatest value. */
    static Function chase() {
        SmallPrograms p = new SmallPrograms();
        Block out = p.f.block();
        Block positive = p.f.block();
        Block small = p.f.block();
        Vreg task = p.load(Width.U64, p.context, 0);
        Vreg next = p.read(p.alu(AluOperation.ADD, task, 1416), Width.U64);
        Vreg number = p.f.register(Vreg.Kind.SCALAR, "$n");
        p.f.add(new Copy(number, p.read(p.alu(AluOperation.ADD, next, 40), Width.U32)));
        p.f.add(new Branch(Condition.SIGNED_LESS, false, number, Operand.of(0), out, positive));
        p.f.start(positive);
        p.branch(Condition.GREATER, number, 100, out, small);
        p.f.start(small);
        StackObject key = p.f.object(8, 8);
        p.store(key, 0, number);
        Vreg now = p.load(Width.U64, p.context, 16);
        StackObject fresh = p.f.object(8, 8);
        p.store(fresh, 0, now);
        Vreg value = p.lookup("counts", key);
        Block hit = p.f.block();
        Block miss = p.f.block();
        Block greater = p.f.block();
        p.branch(Condition.EQUAL, value, 0, miss, hit);
        p.f.start(hit);
        Vreg old = p.load(Width.U64, value, 0);
        p.f.add(new Branch(Condition.GREATER, true, now, old, greater, out));
        p.f.start(greater);
        p.store(value, 0, now);
        p.f.add(new Goto(out));
        p.f.start(miss);
        p.update("counts", key, fresh, 0);
        p.f.start(out);
        p.f.add(new Return(Operand.of(0)));
        return p.f;
    }

    /** Adds up values of a map. */
    static Function loop() {
        SmallPrograms p = new SmallPrograms();
        Vreg sum = p.f.register(Vreg.Kind.SCALAR, "$sum");
        Vreg most = p.f.register(Vreg.Kind.SCALAR, "$n");
        Vreg i = p.f.register(Vreg.Kind.SCALAR, "$i");
        StackObject key = p.f.object(8, 8);
        p.f.add(new Constant(sum, 0));
        p.f.add(new Copy(most, p.load(Width.U64, p.context, 0)));
        Block cut = p.f.block();
        Block head = p.f.block();
        Block body = p.f.block();
        Block found = p.f.block();
        Block out = p.f.block();
        p.f.add(new Constant(i, 0));
        p.branch(Condition.GREATER, most, 50, cut, head);
        p.f.start(cut);
        p.f.add(new Constant(most, 50));
        p.f.start(head);
        p.f.add(new Branch(Condition.LESS, true, i, most, body, out));
        p.f.start(body);
        p.store(key, 0, i);
        Vreg value = p.lookup("counts", key);
        p.branch(Condition.EQUAL, value, 0, out, found);
        p.f.start(found);
        Vreg product = p.f.scalar();
        Vreg read = p.load(Width.U64, value, 0);
        p.f.add(new Alu(AluOperation.MULTIPLY, true, product, read, i));
        Vreg more = p.f.scalar();
        p.f.add(new Alu(AluOperation.ADD, true, more, sum, product));
        p.f.add(new Copy(sum, more));
        p.f.add(new Copy(i, p.alu(AluOperation.ADD, i, 1)));
        p.f.add(new Goto(head));
        p.f.start(out);
        Vreg result = p.f.scalar();
        Block yes = p.f.block();
        Block end = p.f.block();
        p.f.add(new Constant(result, 0));
        p.branch(Condition.GREATER, sum, 1000, yes, end);
        p.f.start(yes);
        p.f.add(new Constant(result, 1));
        p.f.start(end);
        p.f.add(new Return(result));
        return p.f;
    }

    private Vreg constant(long value) {
        Vreg to = f.scalar();
        f.add(new Constant(to, value));
        return to;
    }

    private Vreg call(int helper) {
        Vreg to = f.scalar();
        f.add(new Call(to, helper, List.of()));
        return to;
    }

    private Vreg alu(AluOperation operation, Vreg left, long right) {
        Vreg to = f.scalar();
        f.add(new Alu(operation, true, to, left, constant(right)));
        return to;
    }

    private Vreg load(Width width, Anchor base, int offset) {
        Vreg to = f.scalar();
        f.add(new Load(width, false, to, base, offset));
        return to;
    }

    private void store(Anchor base, int offset, Vreg from) {
        f.add(new Store(Width.U64, base, offset, from));
    }

    private Vreg address(StackObject object) {
        Vreg to = f.pointer();
        f.add(new Address(to, object, 0));
        return to;
    }

    private Vreg map(String name) {
        Vreg to = f.pointer();
        f.add(new MapAddress(to, name));
        return to;
    }

    private Vreg lookup(String name, StackObject key) {
        Vreg map = map(name);
        Vreg value = f.pointer();
        f.add(new Call(value, KernelFunction.MAP_LOOKUP_ELEM, List.of(map, address(key))));
        return value;
    }

    private void update(String name, StackObject key, StackObject value, int flags) {
        Vreg map = map(name);
        f.add(
                new Call(
                        null,
                        KernelFunction.MAP_UPDATE_ELEM,
                        List.of(map, address(key), address(value), Operand.of(flags))));
    }

    private Vreg read(Vreg from, Width width) {
        StackObject buffer = f.object(8, 8);
        f.add(new Store(Width.U64, buffer, 0, Operand.of(0)));
        f.add(
                new Call(
                        null,
                        KernelFunction.PROBE_READ_KERNEL,
                        List.of(address(buffer), Operand.of(width.bytes()), from)));
        return load(width, buffer, 0);
    }

    private void branch(Condition condition, Vreg left, long right, Block then, Block otherwise) {
        f.add(new Branch(condition, true, left, constant(right), then, otherwise));
    }
}
