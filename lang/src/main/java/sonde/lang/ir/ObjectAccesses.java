package sonde.lang.ir;

import java.util.Arrays;
import java.util.BitSet;
import java.util.function.Consumer;
import sonde.bpf.insn.AluOperation;
import sonde.lang.ir.BasicBlock.BlockStep;
import sonde.lang.ir.IrOperation.IrAddress;
import sonde.lang.ir.IrOperation.IrAlu;
import sonde.lang.ir.IrOperation.IrAtomic;
import sonde.lang.ir.IrOperation.IrBranch;
import sonde.lang.ir.IrOperation.IrCall;
import sonde.lang.ir.IrOperation.IrCallKernel;
import sonde.lang.ir.IrOperation.IrCopy;
import sonde.lang.ir.IrOperation.IrLoad;
import sonde.lang.ir.IrOperation.IrStore;

/**
 * Which operations touch which objects of the frame, themselves or by addresses in registers. An
 * object whose address goes anywhere else than into registers and to helpers, which keep none, may
 * be touched by whatever runs: it has escaped.
 */
final class ObjectAccesses {
    private final BitSet[] behind;
    private final BitSet escaped = new BitSet();

    ObjectAccesses(WorkingFunction body) {
        behind = new BitSet[body.registers().size()];
        Arrays.setAll(behind, _ -> new BitSet());
        boolean changed = true;
        while (changed) {
            changed = false;
            for (BasicBlock block : body.layout()) {
                for (BlockStep step : block.steps()) {
                    changed |= follow(step.operation());
                }
            }
        }
        for (BasicBlock block : body.layout()) {
            block.steps().forEach(step -> escape(step.operation()));
        }
    }

    /** Objects that may be touched anywhere. */
    BitSet escaped() {
        return escaped;
    }

    /** The addresses that an operation makes of others; whether any is new. */
    private boolean follow(IrOperation operation) {
        return switch (operation) {
            case IrAddress o -> add(o.to(), o.object().index());
            case IrCopy o -> add(o.to(), behind[o.from().index()]);
            case IrAlu o when isSum(o) -> {
                boolean left = add(o.to(), behind[o.left().index()]);
                yield left
                        | (o.right() instanceof VirtualRegister right
                                && add(o.to(), behind[right.index()]));
            }
            default -> false;
        };
    }

    private static boolean isSum(IrAlu o) {
        return o.operation() == AluOperation.ADD || o.operation() == AluOperation.SUBTRACT;
    }

    private boolean add(VirtualRegister to, int object) {
        boolean known = behind[to.index()].get(object);
        behind[to.index()].set(object);
        return !known;
    }

    private boolean add(VirtualRegister to, BitSet objects) {
        int before = behind[to.index()].cardinality();
        behind[to.index()].or(objects);
        return behind[to.index()].cardinality() != before;
    }

    private void escape(IrOperation operation) {
        switch (operation) {
            case IrCopy _, IrLoad _, IrCall _, IrCallKernel _, IrBranch _ -> {}
            case IrAlu o when isSum(o) -> {}
            case IrStore o -> {
                if (o.from() instanceof VirtualRegister from) {
                    escaped.or(behind[from.index()]);
                }
            }
            case IrAtomic o -> escaped.or(behind[o.from().index()]);
            default ->
                    OperationEffects.reads(
                            operation, register -> escaped.or(behind[register.index()]));
        }
    }

    /** Tells the sets of objects that an operation may touch. */
    void of(IrOperation operation, Consumer<BitSet> touched) {
        switch (operation) {
            case IrLoad o -> access(o.base(), touched);
            case IrStore o -> access(o.base(), touched);
            case IrAtomic o -> access(o.base(), touched);
            case IrCall _, IrCallKernel _ ->
                    OperationEffects.reads(
                            operation, register -> touched.accept(behind[register.index()]));
            default -> {}
        }
    }

    private void access(AccessAnchor base, Consumer<BitSet> touched) {
        switch (base) {
            case StackObject object -> {
                BitSet one = new BitSet();
                one.set(object.index());
                touched.accept(one);
            }
            case VirtualRegister register -> touched.accept(behind[register.index()]);
        }
    }

    /** The object that a store fills, whose bytes before do not matter; -1 for none. */
    static int filled(IrOperation operation) {
        return operation instanceof IrStore store
                        && store.base() instanceof StackObject object
                        && store.offset() == 0
                        && store.width().bytes() == object.sizeBytes()
                ? object.index()
                : -1;
    }
}
