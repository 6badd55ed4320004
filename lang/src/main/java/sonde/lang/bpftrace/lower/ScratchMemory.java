package sonde.lang.bpftrace.lower;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.AtomicOperation;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.lower.LoweredValue.MemoryOwner;
import sonde.lang.bpftrace.lower.LoweredValue.PlaceValue;
import sonde.lang.bpftrace.lower.PortableReference.RunFact;
import sonde.lang.bpftrace.lower.PortableReference.RunReference;
import sonde.lang.ir.BasicBlock;
import sonde.lang.ir.BasicBlock.BlockStep;
import sonde.lang.ir.IrFunction;
import sonde.lang.ir.IrOperand;
import sonde.lang.ir.IrOperation;
import sonde.lang.ir.IrOperation.IrAlu;
import sonde.lang.ir.IrOperation.IrAtomic;
import sonde.lang.ir.IrOperation.IrCall;
import sonde.lang.ir.IrOperation.IrCopy;
import sonde.lang.ir.IrOperation.IrLoad;
import sonde.lang.ir.IrOperation.IrLoadTime;
import sonde.lang.ir.IrOperation.IrStore;
import sonde.lang.ir.StackObject;
import sonde.lang.ir.VirtualRegister;

/**
 * Memory of a program: small objects on the stack, larger ones, and what the bodies of loops share
 * with what is around them, in a part of the map {@value #MAP} that each CPU has for itself.
 */
final class ScratchMemory {
    /** The map's name. */
    static final String MAP = ".frames";

    /** Runs of an interruptible program that a CPU can be in. */
    static final int SLOTS = 4;

    /** Offset in a slot of 8 bytes: 1 while a run has it. */
    private static final int TAKEN = 0;

    /** Offset of the slot's address in what the body of a loop is called with. */
    static final int IN_CONTEXT = 8;

    private record ScratchKey(int sizeBytes, int align) {}

    private final int stackLimit;
    private final int cpuMask;
    private final int start;
    private final boolean portable;
    private final int slots;
    private final Map<IrFunction, VirtualRegister> pointers = new IdentityHashMap<>();
    private final Map<IrFunction, Map<ScratchKey, Deque<StackObject>>> free =
            new IdentityHashMap<>();
    private final List<Object> used = new ArrayList<>();
    private int top;
    private int floor;
    private int most;

    /**
     * Nothing used.
     *
     * @param start where this program's part begins in the map
     * @param portable the CPUs are not known yet: the parts of a CPU lie together, each program's
     *     behind that of the one before
     * @param interruptible runs of the program share a CPU: each takes one of {@link #SLOTS}
     */
    ScratchMemory(int stackLimit, int cpuMask, int start, boolean portable, boolean interruptible) {
        this.portable = portable;
        this.slots = interruptible ? SLOTS : 1;
        this.top = interruptible ? 8 : 0;
        this.stackLimit = stackLimit;
        this.cpuMask = cpuMask;
        this.start = start;
    }

    /** Bytes of the map that this program takes, of all CPUs; of one in a portable program. */
    int sizeBytes() {
        return pointers.isEmpty() ? 0 : cpuBytes() * (portable ? 1 : cpuMask + 1);
    }

    private int stride() {
        return most + 7 & ~7;
    }

    private int cpuBytes() {
        return stride() * slots;
    }

    /** Whether each run takes memory of its own. */
    boolean hasSlots() {
        return slots > 1;
    }

    /** Whether a function has memory here. */
    boolean isUsed(IrFunction function) {
        return pointers.containsKey(function);
    }

    /** Where the memory begins, as a function sees it. */
    VirtualRegister pointer(IrFunction function) {
        return pointers.computeIfAbsent(function, IrFunction::pointer);
    }

    /** Memory until {@link #release}. */
    PlaceValue allocate(IrFunction function, int sizeBytes, int align) {
        if (sizeBytes <= stackLimit) {
            return new PlaceValue(
                    object(function, Math.max(sizeBytes, 1), align), 0, MemoryOwner.OWN);
        }
        return at(function, reserve(sizeBytes));
    }

    /** Memory that functions of the program share: its offset in the frame. */
    int reserve(int sizeBytes) {
        int at = top;
        used.add(top);
        top += Math.max(8, sizeBytes + 7 & ~7);
        most = Math.max(most, top);
        return at;
    }

    /** Memory that nothing else of the program gets and that keeps what a run left there. */
    int keep(int sizeBytes) {
        int at = reserve(sizeBytes);
        floor = top;
        return at;
    }

    /** Shared memory as a function sees it. */
    PlaceValue at(IrFunction function, int offset) {
        return new PlaceValue(pointer(function), offset, MemoryOwner.OWN);
    }

    /** An object on the stack until {@link #release}. */
    StackObject object(IrFunction function, int sizeBytes, int align) {
        ScratchKey key = new ScratchKey(sizeBytes, align);
        Deque<StackObject> left =
                free.computeIfAbsent(function, f -> new HashMap<>())
                        .computeIfAbsent(key, k -> new ArrayDeque<>());
        StackObject object = left.isEmpty() ? function.object(sizeBytes, align) : left.pop();
        used.add(Map.entry(function, object));
        return object;
    }

    /** What is used now. */
    int mark() {
        return used.size();
    }

    /** Gives back what was used since. */
    void release(int mark) {
        while (used.size() > mark) {
            Object last = used.removeLast();
            if (last instanceof Integer offset) {
                top = Math.max(offset, floor);
            } else if (last instanceof Map.Entry<?, ?> entry
                    && entry.getKey() instanceof IrFunction function
                    && entry.getValue() instanceof StackObject object) {
                free.computeIfAbsent(function, f -> new HashMap<>())
                        .computeIfAbsent(
                                new ScratchKey(object.sizeBytes(), object.align()),
                                k -> new ArrayDeque<>())
                        .push(object);
            }
        }
    }

    /** Writes, at the start of each function that needs it, where its memory lies. */
    void finish() {
        pointers.forEach((function, pointer) -> {
            List<BlockStep> steps = new ArrayList<>();
            if (!hasSlots()) {
                base(function, pointer, steps);
            } else if (function.parameters().size() > 1) {
                VirtualRegister context = function.parameters().getLast();
                add(steps, new IrLoad(Width.U64, false, pointer, context, IN_CONTEXT));
            }
            function.layout().getFirst().steps().addAll(0, steps);
        });
    }

    private void base(IrFunction function, VirtualRegister pointer, List<BlockStep> steps) {
        VirtualRegister cpu = function.scalar();
        VirtualRegister masked = function.scalar();
        VirtualRegister offset = function.scalar();
        VirtualRegister map = function.pointer();
        IrOperand mask = fact(function, RunFact.CPU_MASK, cpuMask, steps);
        IrOperand bytes = fact(function, RunFact.FRAME_BYTES, cpuBytes(), steps);
        add(
                steps,
                new IrCall(cpu, HelperFunctionId.GET_SMP_PROCESSOR_ID, List.of()),
                new IrAlu(AluOperation.AND, true, masked, cpu, mask),
                new IrAlu(AluOperation.MULTIPLY, true, offset, masked, bytes),
                new IrOperation.MapValue(map, MAP, start),
                new IrAlu(AluOperation.ADD, true, pointer, map, offset));
    }

    /**
     * Writes how a run takes a slot: first that of its thread's number, else one of the others. The
     * verifier does not know which, so it walks what follows once.
     *
     * @param taken where it goes on with one; it falls through without
     */
    void take(OperationEmitter emit, BasicBlock taken) {
        IrFunction function = emit.function();
        List<BlockStep> steps = new ArrayList<>();
        VirtualRegister base = function.pointer();
        base(function, base, steps);
        steps.forEach(step -> function.add(step.operation()));
        VirtualRegister thread = emit.call(HelperFunctionId.GET_CURRENT_PID_TGID);
        VirtualRegister slot = emit.alu(AluOperation.AND, thread, SLOTS - 1);
        VirtualRegister pointer = pointer(function);
        for (int i = 0; i < SLOTS; i++) {
            VirtualRegister offset = emit.alu(AluOperation.MULTIPLY, slot, stride());
            function.add(new IrCopy(pointer, emit.alu(AluOperation.ADD, base, offset)));
            VirtualRegister before = function.scalar();
            function.add(
                    new IrAtomic(
                            AtomicOperation.EXCHANGE,
                            Width.U64,
                            pointer,
                            TAKEN,
                            emit.constant(1),
                            before));
            emit.when(JumpCondition.EQUAL, before, 0, taken);
            slot = emit.alu(AluOperation.AND, emit.alu(AluOperation.ADD, slot, 1), SLOTS - 1);
        }
    }

    /** Gives the slot back. */
    IrOperation free(IrFunction function) {
        return new IrStore(Width.U64, pointer(function), TAKEN, IrOperand.of(0));
    }

    private static void add(List<BlockStep> steps, IrOperation... operations) {
        for (IrOperation operation : operations) {
            steps.add(new BlockStep(operation, null));
        }
    }

    private IrOperand fact(IrFunction function, RunFact fact, int now, List<BlockStep> steps) {
        if (!portable) {
            return IrOperand.of(now);
        }
        VirtualRegister to = function.scalar();
        add(steps, new IrLoadTime(to, new RunReference(fact)));
        return to;
    }
}
