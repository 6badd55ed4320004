package sonde.lang.ir;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import sonde.lang.ir.Block.Step;
import sonde.lang.ir.Operation.Call;
import sonde.lang.ir.Operation.CallImported;
import sonde.lang.ir.Operation.CallKernel;
import sonde.lang.ir.Operation.CallLocal;
import sonde.lang.ir.Operation.Copy;
import sonde.lang.ir.Operation.Store;

/** Removes what nobody sees: values that are not read, and stores to objects that never are. */
final class DeadSteps {
    private DeadSteps() {}

    /** Whether anything changed. */
    static boolean remove(Body body) {
        boolean changed = removeStores(body);
        boolean again = true;
        while (again) {
            again = pass(body);
            changed |= again;
        }
        return changed;
    }

    private static boolean pass(Body body) {
        Liveness liveness = Liveness.of(body, Subjects.registers(body));
        boolean changed = false;
        for (Block block : body.layout()) {
            BitSet alive = new BitSet();
            liveness.atEnd(block, alive::set);
            List<Step> kept = new ArrayList<>(block.steps().size());
            boolean removed = false;
            for (Step step : block.steps().reversed()) {
                Operation operation = step.operation();
                Vreg to = Effects.written(operation);
                boolean unread = to != null && !alive.get(to.index());
                if (unread && Effects.isPure(operation)
                        || operation instanceof Copy copy && copy.to() == copy.from()) {
                    removed = true;
                    continue;
                }
                Operation remaining = unread ? withoutResult(operation) : operation;
                if (to != null) {
                    alive.clear(to.index());
                }
                Effects.reads(remaining, register -> alive.set(register.index()));
                removed |= !remaining.equals(operation);
                kept.add(remaining.equals(operation) ? step : new Step(remaining, step.span()));
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

    private static Operation withoutResult(Operation operation) {
        return switch (operation) {
            case Call o -> new Call(null, o.helper(), o.arguments());
            case CallKernel o -> new CallKernel(null, o.function(), o.arguments());
            case CallLocal o -> new CallLocal(null, o.function(), o.arguments());
            case CallImported o -> new CallImported(null, o.function(), o.arguments());
            default -> operation;
        };
    }

    /** An object that is only stored to is not there. */
    private static boolean removeStores(Body body) {
        BitSet seen = new BitSet();
        boolean[] stores = {false};
        for (Block block : body.layout()) {
            for (Step step : block.steps()) {
                if (step.operation() instanceof Store store) {
                    stores[0] |= store.base() instanceof StackObject;
                } else {
                    StackObjects.of(step.operation(), object -> seen.set(object.index()));
                }
            }
        }
        boolean changed = false;
        for (Block block : body.layout()) {
            changed |=
                    stores[0]
                            && block.steps()
                                    .removeIf(step ->
                                            step.operation() instanceof Store store
                                                    && store.base() instanceof StackObject object
                                                    && !seen.get(object.index()));
        }
        return changed;
    }
}
