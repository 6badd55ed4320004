package sonde.lang.ir;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.lang.ir.Block.Step;
import sonde.lang.ir.Operand.Number;
import sonde.lang.ir.Operation.Address;
import sonde.lang.ir.Operation.Alu;
import sonde.lang.ir.Operation.Atomic;
import sonde.lang.ir.Operation.Branch;
import sonde.lang.ir.Operation.Constant;
import sonde.lang.ir.Operation.Copy;
import sonde.lang.ir.Operation.Goto;
import sonde.lang.ir.Operation.Load;
import sonde.lang.ir.Operation.MapValue;
import sonde.lang.ir.Operation.Store;

/**
 * Puts numbers where registers hold them, folds what is known, and counts offsets from the address
 * they are added to. A register that one operation writes has its value wherever it is read, since
 * none is read before it is written ({@link Entry}); one that several write has it until the next
 * of them, or until paths meet.
 */
final class Propagation {
    private static final int DEPTH = 4;

    private final Body body;
    private final @Nullable Operation[] definitions;
    private final boolean[] once;
    private final Map<Vreg, Long> known = new HashMap<>();
    private final int[] predecessors;
    private final Set<Block> informed = new HashSet<>();
    private boolean changed;

    private Propagation(Body body) {
        this.body = body;
        definitions = body.definitions();
        predecessors = body.predecessors();
        int[] writes = body.writes();
        once = new boolean[writes.length];
        for (int i = 0; i < once.length; i++) {
            once[i] = writes[i] == 1;
        }
    }

    /** Whether anything changed. */
    static boolean apply(Body body) {
        return new Propagation(body).run();
    }

    private boolean run() {
        Map<Block, Map<Vreg, Long>> carried = new HashMap<>();
        for (Block block : body.layout()) {
            known.clear();
            Map<Vreg, Long> before = carried.remove(block);
            if (before != null && predecessors[block.index()] == 1) {
                informed.add(block);
                known.putAll(before);
            }
            block(block);
            for (Block next : Effects.targets(block)) {
                if (predecessors[next.index()] == 1 && !known.isEmpty() && known.size() < 64) {
                    carried.put(next, new HashMap<>(known));
                }
            }
        }
        return changed;
    }

    private void block(Block block) {
        List<Step> steps = block.steps();
        for (int i = 0; i < steps.size(); i++) {
            Step step = steps.get(i);
            Operation after = simplified(step.operation());
            if (!after.equals(step.operation())) {
                steps.set(i, new Step(after, step.span()));
                changed = true;
            }
            Vreg to = Effects.written(after);
            if (to == null) {
                continue;
            }
            if (once[to.index()]) {
                definitions[to.index()] = after;
            } else if (after instanceof Constant constant) {
                known.put(to, constant.value());
            } else {
                known.remove(to);
            }
        }
    }

    private @Nullable Long value(Vreg register) {
        if (definitions[register.index()] instanceof Constant constant) {
            return constant.value();
        }
        return known.get(register);
    }

    private @Nullable Long value(Operand operand) {
        return switch (operand) {
            case Number(long number) -> number;
            case Vreg register -> value(register);
        };
    }

    /** A number for what is known to be one. */
    private Operand operand(Operand operand) {
        Long value = value(operand);
        return value == null ? operand : Operand.of(value);
    }

    /** A number where an instruction has room for it. */
    private Operand immediate(Operand operand, boolean wide) {
        Long value = value(operand);
        return value == null || wide && value != value.intValue() ? operand : Operand.of(value);
    }

    private List<Operand> operands(List<Operand> before) {
        List<Operand> after = new ArrayList<>(before.size());
        before.forEach(operand -> after.add(operand(operand)));
        return after;
    }

    private Operation simplified(Operation operation) {
        return switch (operation) {
            case Copy o -> {
                Long value = value(o.from());
                yield value == null ? o : new Constant(o.to(), value);
            }
            case Alu o -> alu(o);
            case Operation.Negate o -> {
                Long value = value(o.from());
                yield value == null ? o : new Constant(o.to(), -value);
            }
            case Operation.SignExtend o -> {
                Long value = value(o.from());
                yield value == null
                        ? o
                        : new Constant(o.to(), Arithmetic.signExtend(o.bits(), value));
            }
            case Operation.Swap o -> {
                Long value = value(o.from());
                yield value == null ? o : new Constant(o.to(), Arithmetic.swap(o.bits(), value));
            }
            case Load o -> {
                Place place = place(o.base(), o.offset());
                yield new Load(o.width(), o.signed(), o.to(), place.base, place.offset);
            }
            case Store o -> {
                Place place = place(o.base(), o.offset());
                Operand from = immediate(o.from(), o.width().bytes() == 8);
                yield new Store(o.width(), place.base, place.offset, from);
            }
            case Atomic o -> {
                Place place = place(o.base(), o.offset());
                yield new Atomic(
                        o.operation(), o.width(), place.base, place.offset, o.from(), o.result());
            }
            case Operation.Call o ->
                    new Operation.Call(o.to(), o.helper(), operands(o.arguments()));
            case Operation.CallKernel o ->
                    new Operation.CallKernel(o.to(), o.function(), operands(o.arguments()));
            case Operation.CallLocal o ->
                    new Operation.CallLocal(o.to(), o.function(), operands(o.arguments()));
            case Operation.CallImported o ->
                    new Operation.CallImported(o.to(), o.function(), operands(o.arguments()));
            case Operation.Return o -> new Operation.Return(operand(o.value()));
            case Branch o -> branch(o);
            case Goto o -> decided(o);
            case Constant _,
                    Address _,
                    Operation.MapAddress _,
                    MapValue _,
                    Operation.FunctionAddress _,
                    Operation.KernelVariable _,
                    Operation.Later _ ->
                    operation;
        };
    }

    private record Place(Anchor base, int offset) {}

    /** The same place counted from the farthest base that has its value wherever this one has. */
    private Place place(Anchor base, int offset) {
        if (!(base instanceof Vreg register)) {
            return new Place(base, offset);
        }
        Operation definition = definitions[register.index()];
        if (definition instanceof Address address && fits(offset + address.offset())) {
            return new Place(address.object(), offset + address.offset());
        }
        if (definition instanceof Alu alu
                && alu.operation() == AluOperation.ADD
                && alu.wide()
                && once[alu.left().index()]
                && alu.left().kind() == Vreg.Kind.POINTER
                && alu.right() instanceof Number(long number)
                && number == (short) number
                && fits(offset + (int) number)) {
            return place(alu.left(), offset + (int) number);
        }
        return new Place(base, offset);
    }

    private static boolean fits(int offset) {
        return offset == (short) offset;
    }

    private Operation alu(Alu before) {
        Alu o = before;
        Long left = value(o.left());
        Long right = value(o.right());
        if (o.operation() == AluOperation.MOVE) {
            // 32 bits, both sides the same.
            return left != null
                    ? new Constant(o.to(), left & 0xffffffffL)
                    : Identities.significantBits(o.left(), definitions, DEPTH) <= 32
                            ? new Copy(o.to(), o.left())
                            : o;
        }
        if (left != null && right != null) {
            return new Constant(o.to(), Arithmetic.of(o.operation(), o.wide(), left, right));
        }
        if (left != null
                && Arithmetic.isCommutative(o.operation())
                && o.right() instanceof Vreg other) {
            o = new Alu(o.operation(), o.wide(), o.to(), other, Operand.of(left));
            right = left;
        }
        if (right != null) {
            o = new Alu(o.operation(), o.wide(), o.to(), o.left(), Operand.of(right));
        }
        if (Identities.of(o) instanceof Alu cheaper) {
            return known(cheaper);
        }
        return Identities.of(o);
    }

    /** Arithmetic whose left side is an address or known to be small. */
    private Operation known(Alu o) {
        if (!(o.right() instanceof Number(long number)) || !o.wide()) {
            return o;
        }
        if (o.operation() == AluOperation.AND) {
            int bits = Identities.significantBits(o.left(), definitions, DEPTH);
            long possible = bits == 64 ? -1 : (1L << bits) - 1;
            return (possible & ~number) == 0 ? new Copy(o.to(), o.left()) : o;
        }
        if (o.operation() != AluOperation.ADD || number != (short) number) {
            return o;
        }
        return switch (definitions[o.left().index()]) {
            case Address address when fits(address.offset() + (int) number) ->
                    new Address(o.to(), address.object(), address.offset() + (int) number);
            case MapValue value when value.offset() + number >= 0 ->
                    new MapValue(o.to(), value.map(), value.offset() + (int) number);
            case Alu inner
                    when inner.operation() == AluOperation.ADD
                            && inner.wide()
                            && once[inner.left().index()]
                            && inner.left().kind() == Vreg.Kind.POINTER
                            && inner.right() instanceof Number(long more)
                            && more == (short) more ->
                    new Alu(
                            AluOperation.ADD,
                            true,
                            o.to(),
                            inner.left(),
                            Operand.of(more + number));
            case null, default -> o;
        };
    }

    private Operation branch(Branch o) {
        Long left = value(o.left());
        Long right = value(o.right());
        if (left != null && right != null) {
            return new Goto(
                    Arithmetic.holds(o.condition(), o.wide(), left, right)
                            ? o.then()
                            : o.otherwise());
        }
        if (left != null && o.right() instanceof Vreg other) {
            Operand number = immediate(o.left(), o.wide());
            return number instanceof Number
                    ? new Branch(
                            Arithmetic.mirrored(o.condition()),
                            o.wide(),
                            other,
                            number,
                            o.then(),
                            o.otherwise())
                    : o;
        }
        return new Branch(
                o.condition(),
                o.wide(),
                o.left(),
                immediate(o.right(), o.wide()),
                o.then(),
                o.otherwise());
    }

    /** Passes over a block that only asks for what is known here. */
    private Goto decided(Goto o) {
        if (o.target().steps().size() == 1
                && o.target().steps().getFirst().operation() instanceof Branch branch) {
            Long left = value(branch.left());
            Long right = value(branch.right());
            if (left != null && right != null) {
                Block next =
                        Arithmetic.holds(branch.condition(), branch.wide(), left, right)
                                ? branch.then()
                                : branch.otherwise();
                // One that was told what its only predecessor knows may not get another.
                if (!informed.contains(next)) {
                    predecessors[next.index()]++;
                    return new Goto(next);
                }
            }
        }
        return o;
    }
}
