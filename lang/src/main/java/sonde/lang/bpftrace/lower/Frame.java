package sonde.lang.bpftrace.lower;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.KernelFunction;
import sonde.lang.bpftrace.lower.Value.Place;
import sonde.lang.bpftrace.lower.Value.Where;
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

    private record Key(int sizeBytes, int align) {}

    private final int stackLimit;
    private final int cpuMask;
    private final int start;
    private final boolean portable;
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
     */
    Frame(int stackLimit, int cpuMask, int start, boolean portable) {
        this.portable = portable;
        this.stackLimit = stackLimit;
        this.cpuMask = cpuMask;
        this.start = start;
    }

    /** Bytes of the map that this program takes, of all CPUs; of one in a portable program. */
    int sizeBytes() {
        return pointers.isEmpty() ? 0 : stride() * (portable ? 1 : cpuMask + 1);
    }

    private int stride() {
        return most + 7 & ~7;
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
        Vreg pointer = pointers.computeIfAbsent(function, Function::pointer);
        return new Place(pointer, offset, Where.OWN);
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
            Vreg cpu = function.scalar();
            Vreg masked = function.scalar();
            Vreg offset = function.scalar();
            Vreg map = function.pointer();
            List<Step> steps = new ArrayList<>();
            Operand mask = fact(function, Reference.Fact.CPU_MASK, cpuMask, steps);
            Operand stride = fact(function, Reference.Fact.FRAME_BYTES, stride(), steps);
            add(
                    steps,
                    new Operation.Call(cpu, KernelFunction.GET_SMP_PROCESSOR_ID, List.of()),
                    new Operation.Alu(AluOperation.AND, true, masked, cpu, mask),
                    new Operation.Alu(AluOperation.MULTIPLY, true, offset, masked, stride),
                    new Operation.MapValue(map, MAP, start),
                    new Operation.Alu(AluOperation.ADD, true, pointer, map, offset));
            function.layout().getFirst().steps().addAll(0, steps);
        });
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
