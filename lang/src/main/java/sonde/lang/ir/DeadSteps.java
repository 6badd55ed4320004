package sonde.lang.ir;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import sonde.lang.ir.BasicBlock.BlockStep;
import sonde.lang.ir.IrOperation.CallImported;
import sonde.lang.ir.IrOperation.IrCall;
import sonde.lang.ir.IrOperation.IrCallKernel;
import sonde.lang.ir.IrOperation.IrCallLocal;
import sonde.lang.ir.IrOperation.IrCopy;
import sonde.lang.ir.IrOperation.IrStore;

/** Removes what nobody sees: values that are not read, and stores to objects that never are. */
final class DeadSteps {
    private DeadSteps() {}

    /** Whether anything changed. */
    static boolean remove(WorkingFunction body) {
        boolean changed = removeStores(body);
        boolean again = true;
        while (again) {
            again = pass(body);
            changed |= again;
        }
        return changed;
    }

    private static boolean pass(WorkingFunction body) {
        Liveness liveness = Liveness.of(body, LivenessSubjects.registers(body));
        boolean changed = false;
        for (BasicBlock block : body.layout()) {
            BitSet alive = new BitSet();
            liveness.atEnd(block, alive::set);
            List<BlockStep> kept = new ArrayList<>(block.steps().size());
            boolean removed = false;
            for (BlockStep step : block.steps().reversed()) {
                IrOperation operation = step.operation();
                VirtualRegister to = OperationEffects.written(operation);
                boolean unread = to != null && !alive.get(to.index());
                if (unread && OperationEffects.isPure(operation)
                        || operation instanceof IrCopy copy && copy.to() == copy.from()) {
                    removed = true;
                    continue;
                }
                IrOperation remaining = unread ? withoutResult(operation) : operation;
                if (to != null) {
                    alive.clear(to.index());
                }
                OperationEffects.reads(remaining, register -> alive.set(register.index()));
                removed |= !remaining.equals(operation);
                kept.add(
                        remaining.equals(operation) ? step : new BlockStep(remaining, step.span()));
            }
            if (removed) {
                Collections.reverse(kept);
                block.steps().clear();
                block.steps().addAll(kept);
                changed = true;
            }
        }
        return changed;
    }

    private static IrOperation withoutResult(IrOperation operation) {
        return switch (operation) {
            case IrCall o -> new IrCall(null, o.helper(), o.arguments());
            case IrCallKernel o -> new IrCallKernel(null, o.function(), o.arguments());
            case IrCallLocal o -> new IrCallLocal(null, o.function(), o.arguments());
            case CallImported o -> new CallImported(null, o.function(), o.arguments());
            default -> operation;
        };
    }

    /** An object that is only stored to is not there. */
    private static boolean removeStores(WorkingFunction body) {
        BitSet seen = new BitSet();
        boolean[] stores = {false};
        for (BasicBlock block : body.layout()) {
            for (BlockStep step : block.steps()) {
                if (step.operation() instanceof IrStore store) {
                    stores[0] |= store.base() instanceof StackObject;
                } else {
                    StackObjects.of(step.operation(), object -> seen.set(object.index()));
                }
            }
        }
        boolean changed = false;
        for (BasicBlock block : body.layout()) {
            changed |=
                    stores[0]
                            && block.steps()
                                    .removeIf(step ->
                                            step.operation() instanceof IrStore store
                                                    && store.base() instanceof StackObject object
                                                    && !seen.get(object.index()));
        }
        return changed;
    }
}
