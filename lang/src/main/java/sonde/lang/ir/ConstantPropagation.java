package sonde.lang.ir;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.lang.ir.BasicBlock.BlockStep;
import sonde.lang.ir.IrOperand.IrNumber;
import sonde.lang.ir.IrOperation.IrAddress;
import sonde.lang.ir.IrOperation.IrAlu;
import sonde.lang.ir.IrOperation.IrAtomic;
import sonde.lang.ir.IrOperation.IrBranch;
import sonde.lang.ir.IrOperation.IrCall;
import sonde.lang.ir.IrOperation.IrCallKernel;
import sonde.lang.ir.IrOperation.IrCallLocal;
import sonde.lang.ir.IrOperation.IrConstant;
import sonde.lang.ir.IrOperation.IrCopy;
import sonde.lang.ir.IrOperation.IrGoto;
import sonde.lang.ir.IrOperation.IrLoad;
import sonde.lang.ir.IrOperation.IrLoadTime;
import sonde.lang.ir.IrOperation.IrNegate;
import sonde.lang.ir.IrOperation.IrReturn;
import sonde.lang.ir.IrOperation.IrSignExtend;
import sonde.lang.ir.IrOperation.IrStore;
import sonde.lang.ir.IrOperation.IrSwap;
import sonde.lang.ir.IrOperation.MapValue;

/**
 * Puts numbers where registers hold them, folds what is known, and counts offsets from the address
 * they are added to. A register that one operation writes has its value wherever it is read, since
 * none is read before it is written ({@link EntryInitialisation}); one that several write has it
 * until the next of them, or until paths meet.
 */
final class ConstantPropagation {
    private static final int DEPTH = 4;

    private final WorkingFunction body;
    private final @Nullable IrOperation[] definitions;
    private final boolean[] once;
    private final Map<VirtualRegister, Long> known = new HashMap<>();
    private final int[] predecessors;
    private final Set<BasicBlock> informed = new HashSet<>();
    private boolean changed;

    private ConstantPropagation(WorkingFunction body) {
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
    static boolean apply(WorkingFunction body) {
        return new ConstantPropagation(body).run();
    }

    private boolean run() {
        Map<BasicBlock, Map<VirtualRegister, Long>> carried = new HashMap<>();
        for (BasicBlock block : body.layout()) {
            known.clear();
            Map<VirtualRegister, Long> before = carried.remove(block);
            if (before != null && predecessors[block.index()] == 1) {
                informed.add(block);
                known.putAll(before);
            }
            block(block);
            for (BasicBlock next : OperationEffects.targets(block)) {
                if (predecessors[next.index()] == 1 && !known.isEmpty() && known.size() < 64) {
                    carried.put(next, new HashMap<>(known));
                }
            }
        }
        return changed;
    }

    private void block(BasicBlock block) {
        List<BlockStep> steps = block.steps();
        for (int i = 0; i < steps.size(); i++) {
            BlockStep step = steps.get(i);
            IrOperation after = simplified(step.operation());
            if (!after.equals(step.operation())) {
                steps.set(i, new BlockStep(after, step.span()));
                changed = true;
            }
            VirtualRegister to = OperationEffects.written(after);
            if (to == null) {
                continue;
            }
            if (once[to.index()]) {
                definitions[to.index()] = after;
            } else if (after instanceof IrConstant constant) {
                known.put(to, constant.value());
            } else {
                known.remove(to);
            }
        }
    }

    private @Nullable Long value(VirtualRegister register) {
        if (definitions[register.index()] instanceof IrConstant constant) {
            return constant.value();
        }
        return known.get(register);
    }

    private @Nullable Long value(IrOperand operand) {
        return switch (operand) {
            case IrNumber(long number) -> number;
            case VirtualRegister register -> value(register);
        };
    }

    /** A number for what is known to be one. */
    private IrOperand operand(IrOperand operand) {
        Long value = value(operand);
        return value == null ? operand : IrOperand.of(value);
    }

    /** A number where an instruction has room for it. */
    private IrOperand immediate(IrOperand operand, boolean wide) {
        Long value = value(operand);
        return value == null || wide && value != value.intValue() ? operand : IrOperand.of(value);
    }

    private List<IrOperand> operands(List<IrOperand> before) {
        List<IrOperand> after = new ArrayList<>(before.size());
        before.forEach(operand -> after.add(operand(operand)));
        return after;
    }

    private IrOperation simplified(IrOperation operation) {
        return switch (operation) {
            case IrCopy o -> {
                Long value = value(o.from());
                yield value == null ? o : new IrConstant(o.to(), value);
            }
            case IrAlu o -> alu(o);
            case IrNegate o -> {
                Long value = value(o.from());
                yield value == null ? o : new IrConstant(o.to(), -value);
            }
            case IrSignExtend o -> {
                Long value = value(o.from());
                yield value == null
                        ? o
                        : new IrConstant(o.to(), ConstantArithmetic.signExtend(o.bits(), value));
            }
            case IrSwap o -> {
                Long value = value(o.from());
                yield value == null
                        ? o
                        : new IrConstant(o.to(), ConstantArithmetic.swap(o.bits(), value));
            }
            case IrLoad o -> {
                BaseOffset place = place(o.base(), o.offset());
                yield new IrLoad(o.width(), o.signed(), o.to(), place.base, place.offset);
            }
            case IrStore o -> {
                BaseOffset place = place(o.base(), o.offset());
                IrOperand from = immediate(o.from(), o.width().bytes() == 8);
                yield new IrStore(o.width(), place.base, place.offset, from);
            }
            case IrAtomic o -> {
                BaseOffset place = place(o.base(), o.offset());
                yield new IrAtomic(
                        o.operation(), o.width(), place.base, place.offset, o.from(), o.result());
            }
            case IrCall o -> new IrCall(o.to(), o.helper(), operands(o.arguments()));
            case IrCallKernel o -> new IrCallKernel(o.to(), o.function(), operands(o.arguments()));
            case IrCallLocal o -> new IrCallLocal(o.to(), o.function(), operands(o.arguments()));
            case IrOperation.CallImported o ->
                    new IrOperation.CallImported(o.to(), o.function(), operands(o.arguments()));
            case IrReturn o -> new IrReturn(operand(o.value()));
            case IrBranch o -> branch(o);
            case IrGoto o -> decided(o);
            case IrConstant _,
                    IrAddress _,
                    IrOperation.MapAddress _,
                    MapValue _,
                    IrOperation.FunctionAddress _,
                    IrOperation.KernelVariable _,
                    IrLoadTime _ ->
                    operation;
        };
    }

    private record BaseOffset(AccessAnchor base, int offset) {}

    /** The same place counted from the farthest base that has its value wherever this one has. */
    private BaseOffset place(AccessAnchor base, int offset) {
        if (!(base instanceof VirtualRegister register)) {
            return new BaseOffset(base, offset);
        }
        IrOperation definition = definitions[register.index()];
        if (definition instanceof IrAddress address && fits(offset + address.offset())) {
            return new BaseOffset(address.object(), offset + address.offset());
        }
        if (definition instanceof IrAlu alu
                && alu.operation() == AluOperation.ADD
                && alu.wide()
                && once[alu.left().index()]
                && alu.left().kind() == VirtualRegister.Kind.POINTER
                && alu.right() instanceof IrNumber(long number)
                && number == (short) number
                && fits(offset + (int) number)) {
            return place(alu.left(), offset + (int) number);
        }
        return new BaseOffset(base, offset);
    }

    private static boolean fits(int offset) {
        return offset == (short) offset;
    }

    private IrOperation alu(IrAlu before) {
        IrAlu o = before;
        Long left = value(o.left());
        Long right = value(o.right());
        if (o.operation() == AluOperation.MOVE) {
            // 32 bits, both sides the same.
            return left != null
                    ? new IrConstant(o.to(), left & 0xffffffffL)
                    : AlgebraicIdentities.significantBits(o.left(), definitions, DEPTH) <= 32
                            ? new IrCopy(o.to(), o.left())
                            : o;
        }
        if (left != null && right != null) {
            return new IrConstant(
                    o.to(), ConstantArithmetic.of(o.operation(), o.wide(), left, right));
        }
        if (left != null
                && ConstantArithmetic.isCommutative(o.operation())
                && o.right() instanceof VirtualRegister other) {
            o = new IrAlu(o.operation(), o.wide(), o.to(), other, IrOperand.of(left));
            right = left;
        }
        if (right != null) {
            o = new IrAlu(o.operation(), o.wide(), o.to(), o.left(), IrOperand.of(right));
        }
        if (AlgebraicIdentities.of(o) instanceof IrAlu cheaper) {
            return known(cheaper);
        }
        return AlgebraicIdentities.of(o);
    }

    /** Arithmetic whose left side is an address or known to be small. */
    private IrOperation known(IrAlu o) {
        if (!(o.right() instanceof IrNumber(long number)) || !o.wide()) {
            return o;
        }
        if (o.operation() == AluOperation.AND) {
            int bits = AlgebraicIdentities.significantBits(o.left(), definitions, DEPTH);
            long possible = bits == 64 ? -1 : (1L << bits) - 1;
            return (possible & ~number) == 0 ? new IrCopy(o.to(), o.left()) : o;
        }
        if (o.operation() != AluOperation.ADD || number != (short) number) {
            return o;
        }
        return switch (definitions[o.left().index()]) {
            case IrAddress address when fits(address.offset() + (int) number) ->
                    new IrAddress(o.to(), address.object(), address.offset() + (int) number);
            case MapValue value when value.offset() + number >= 0 ->
                    new MapValue(o.to(), value.map(), value.offset() + (int) number);
            case IrAlu inner
                    when inner.operation() == AluOperation.ADD
                            && inner.wide()
                            && once[inner.left().index()]
                            && inner.left().kind() == VirtualRegister.Kind.POINTER
                            && inner.right() instanceof IrNumber(long more)
                            && more == (short) more ->
                    new IrAlu(
                            AluOperation.ADD,
                            true,
                            o.to(),
                            inner.left(),
                            IrOperand.of(more + number));
            case null, default -> o;
        };
    }

    private IrOperation branch(IrBranch o) {
        Long left = value(o.left());
        Long right = value(o.right());
        if (left != null && right != null) {
            return new IrGoto(
                    ConstantArithmetic.holds(o.condition(), o.wide(), left, right)
                            ? o.then()
                            : o.otherwise());
        }
        if (left != null && o.right() instanceof VirtualRegister other) {
            IrOperand number = immediate(o.left(), o.wide());
            return number instanceof IrNumber
                    ? new IrBranch(
                            ConstantArithmetic.mirrored(o.condition()),
                            o.wide(),
                            other,
                            number,
                            o.then(),
                            o.otherwise())
                    : o;
        }
        return new IrBranch(
                o.condition(),
                o.wide(),
                o.left(),
                immediate(o.right(), o.wide()),
                o.then(),
                o.otherwise());
    }

    /** Passes over a block that only asks for what is known here. */
    private IrGoto decided(IrGoto o) {
        if (o.target().steps().size() == 1
                && o.target().steps().getFirst().operation() instanceof IrBranch branch) {
            Long left = value(branch.left());
            Long right = value(branch.right());
            if (left != null && right != null) {
                BasicBlock next =
                        ConstantArithmetic.holds(branch.condition(), branch.wide(), left, right)
                                ? branch.then()
                                : branch.otherwise();
                // One that was told what its only predecessor knows may not get another.
                if (!informed.contains(next)) {
                    predecessors[next.index()]++;
                    return new IrGoto(next);
                }
            }
        }
        return o;
    }
}
