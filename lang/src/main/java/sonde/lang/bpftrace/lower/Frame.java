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
import sonde.bpf.insn.Condition;
import sonde.bpf.insn.KernelFunction;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.lower.Value.Place;
import sonde.lang.bpftrace.lower.Value.Where;
import sonde.lang.ir.Block;
import sonde.lang.ir.Block.Step;
import sonde.lang.ir.Function;
import sonde.lang.ir.Operand;
import sonde.lang.ir.Operation;
import sonde.lang.ir.StackObject;
import sonde.lang.ir.Vreg;

/**
 * Memory of a program: small objects on the stack, larger ones, and what the bodies of loops share
 * with what is around them, in a part of the map {@value #MAP} that each CPU has for itself.
 */
final class Frame {
    /** The map's name. */
    static final String MAP = ".frames";

    /** Runs of an interruptible program that a CPU can be in. */
    static final int SLOTS = 4;

    /** Offset in a slot of 8 bytes: 1 while a run has it. */
    private static final int TAKEN = 0;

    /** Offset of the slot's address in what the body of a loop is called with. */
    static final int IN_CONTEXT = 8;

    private record Key(int sizeBytes, int align) {}

    private final int stackLimit;
    private final int cpuMask;
    private final int start;
    private final boolean portable;
    private final int slots;
    private final Map<Function, Vreg> pointers = new IdentityHashMap<>();
    private final Map<Function, Map<Key, Deque<StackObject>>> free = new IdentityHashMap<>();
    private final List<Object> used = new ArrayList<>();
    private int top;
    private int most;

    /**
     * Nothing used.
     *
     * @param start where this program's part begins in the map
     * @param portable the CPUs are not known yet: the parts of a CPU lie together, each program's
     *     behind that of the one before
     * @param interruptible runs of the program share a CPU: each takes one of {@link #SLOTS}
     */
    Frame(int stackLimit, int cpuMask, int start, boolean portable, boolean interruptible) {
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
    boolean isUsed(Function function) {
        return pointers.containsKey(function);
    }

    /** Where the memory begins, as a function sees it. */
    Vreg pointer(Function function) {
        return pointers.computeIfAbsent(function, Function::pointer);
    }

    /** Memory until {@link #release}. */
    Place allocate(Function function, int sizeBytes, int align) {
        if (sizeBytes <= stackLimit) {
            return new Place(object(function, Math.max(sizeBytes, 1), align), 0, Where.OWN);
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

    /** Shared memory as a function sees it. */
    Place at(Function function, int offset) {
        return new Place(pointer(function), offset, Where.OWN);
    }

    /** An object on the stack until {@link #release}. */
    StackObject object(Function function, int sizeBytes, int align) {
        Key key = new Key(sizeBytes, align);
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
                top = offset;
            } else if (last instanceof Map.Entry<?, ?> entry
                    && entry.getKey() instanceof Function function
                    && entry.getValue() instanceof StackObject object) {
                free.computeIfAbsent(function, f -> new HashMap<>())
                        .computeIfAbsent(
                                new Key(object.sizeBytes(), object.align()),
                                k -> new ArrayDeque<>())
                        .push(object);
            }
        }
    }

    /** Writes, at the start of each function that needs it, where its memory lies. */
    void finish() {
        pointers.forEach((function, pointer) -> {
            List<Step> steps = new ArrayList<>();
            if (!hasSlots()) {
                base(function, pointer, steps);
            } else if (function.parameters().size() > 1) {
                Vreg context = function.parameters().getLast();
                add(steps, new Operation.Load(Width.U64, false, pointer, context, IN_CONTEXT));
            }
            function.layout().getFirst().steps().addAll(0, steps);
        });
    }

    private void base(Function function, Vreg pointer, List<Step> steps) {
        Vreg cpu = function.scalar();
        Vreg masked = function.scalar();
        Vreg offset = function.scalar();
        Vreg map = function.pointer();
        Operand mask = fact(function, Reference.Fact.CPU_MASK, cpuMask, steps);
        Operand bytes = fact(function, Reference.Fact.FRAME_BYTES, cpuBytes(), steps);
        add(
                steps,
                new Operation.Call(cpu, KernelFunction.GET_SMP_PROCESSOR_ID, List.of()),
                new Operation.Alu(AluOperation.AND, true, masked, cpu, mask),
                new Operation.Alu(AluOperation.MULTIPLY, true, offset, masked, bytes),
                new Operation.MapValue(map, MAP, start),
                new Operation.Alu(AluOperation.ADD, true, pointer, map, offset));
    }

    /**
     * Writes how a run takes a slot: first that of its thread's number, else one of the others. The
     * verifier does not know which, so it walks what follows once.
     *
     * @param taken where it goes on with one; it falls through without
     */
    void take(Emitter emit, Block taken) {
        Function function = emit.function();
        List<Step> steps = new ArrayList<>();
        Vreg base = function.pointer();
        base(function, base, steps);
        steps.forEach(step -> function.add(step.operation()));
        Vreg thread = emit.call(KernelFunction.GET_CURRENT_PID_TGID);
        Vreg slot = emit.alu(AluOperation.AND, thread, SLOTS - 1);
        Vreg pointer = pointer(function);
        for (int i = 0; i < SLOTS; i++) {
            Vreg offset = emit.alu(AluOperation.MULTIPLY, slot, stride());
            function.add(new Operation.Copy(pointer, emit.alu(AluOperation.ADD, base, offset)));
            Vreg before = function.scalar();
            function.add(
                    new Operation.Atomic(
                            AtomicOperation.EXCHANGE,
                            Width.U64,
                            pointer,
                            TAKEN,
                            emit.constant(1),
                            before));
            emit.when(Condition.EQUAL, before, 0, taken);
            slot = emit.alu(AluOperation.AND, emit.alu(AluOperation.ADD, slot, 1), SLOTS - 1);
        }
    }

    /** Gives the slot back. */
    Operation free(Function function) {
        return new Operation.Store(Width.U64, pointer(function), TAKEN, Operand.of(0));
    }

    private static void add(List<Step> steps, Operation... operations) {
        for (Operation operation : operations) {
            steps.add(new Step(operation, null));
        }
    }

    private Operand fact(Function function, Reference.Fact fact, int now, List<Step> steps) {
        if (!portable) {
            return Operand.of(now);
        }
        Vreg to = function.scalar();
        add(steps, new Operation.Later(to, new Reference.Run(fact)));
        return to;
    }
}
