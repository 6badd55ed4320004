package sonde.lang.ir;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import sonde.lang.ir.BasicBlock.BlockStep;
import sonde.lang.ir.IrOperation.IrCopy;

/**
 * Makes one register of those that are copies of each other. A name that the program knows wins
 * over none.
 */
final class CopyCoalescing {
    private static final int MOST = 64;

    private CopyCoalescing() {}

    /** Whether anything changed. */
    static boolean remove(WorkingFunction body) {
        boolean changed = unite(body);
        changed |= retarget(body);
        changed |= new Readers(body).replace();
        return changed;
    }

    /**
     * Where both sides are written once, each has the value of the other wherever it is read: the
     * copy comes before all readers of the one, and after the only write of the other.
     */
    private static boolean unite(WorkingFunction body) {
        int[] writes = body.writes();
        VirtualRegister[] same = body.registers().toArray(VirtualRegister[]::new);
        boolean changed = false;
        for (BasicBlock block : body.layout()) {
            for (BlockStep step : block.steps()) {
                if (step.operation() instanceof IrCopy(VirtualRegister to, VirtualRegister from)
                        && to.kind() == from.kind()
                        && writes[to.index()] == 1
                        && writes[from.index()] == 1) {
                    VirtualRegister a = find(same, to);
                    VirtualRegister b = find(same, from);
                    if (a != b) {
                        boolean keepFirst =
                                b.name().isEmpty()
                                        && !a.name().isEmpty()
                                        && !body.parameters().contains(b);
                        same[(keepFirst ? b : a).index()] = keepFirst ? a : b;
                        changed = true;
                    }
                }
            }
        }
        if (changed) {
            rewrite(body, register -> find(same, register));
        }
        return changed;
    }

    private static VirtualRegister find(VirtualRegister[] same, VirtualRegister register) {
        VirtualRegister at = register;
        while (same[at.index()] != at) {
            same[at.index()] = same[same[at.index()].index()];
            at = same[at.index()];
        }
        return at;
    }

    private static void rewrite(WorkingFunction body, UnaryOperator<VirtualRegister> change) {
        for (BasicBlock block : body.layout()) {
            block.steps()
                    .replaceAll(step ->
                            new BlockStep(
                                    OperationEffects.withWritten(
                                            OperationEffects.withReads(step.operation(), change),
                                            change),
                                    step.span()));
            block.steps()
                    .removeIf(step -> step.operation() instanceof IrCopy c && c.to() == c.from());
        }
    }

    /** Lets what computes a value only to copy it write where it is copied to. */
    private static boolean retarget(WorkingFunction body) {
        int[] writes = body.writes();
        int[] reads = new int[writes.length];
        for (BasicBlock block : body.layout()) {
            block.steps()
                    .forEach(step ->
                            OperationEffects.reads(step.operation(), r -> reads[r.index()]++));
        }
        boolean changed = false;
        for (BasicBlock block : body.layout()) {
            Map<VirtualRegister, Integer> touched = new HashMap<>();
            Map<VirtualRegister, Integer> written = new HashMap<>();
            List<BlockStep> steps = block.steps();
            for (int i = 0; i < steps.size(); i++) {
                IrOperation operation = steps.get(i).operation();
                int now = i;
                if (operation instanceof IrCopy(VirtualRegister to, VirtualRegister from)
                        && to.kind() == from.kind()
                        && writes[from.index()] == 1
                        && reads[from.index()] == 1
                        && written.containsKey(from)
                        && touched.getOrDefault(to, -1) <= written.get(from)) {
                    int at = written.get(from);
                    BlockStep before = steps.get(at);
                    steps.set(
                            at,
                            new BlockStep(
                                    OperationEffects.withWritten(before.operation(), _ -> to),
                                    before.span()));
                    // Dropped with the other copies of a register to itself.
                    steps.set(i, new BlockStep(new IrCopy(to, to), null));
                    changed = true;
                }
                OperationEffects.reads(operation, register -> touched.put(register, now));
                VirtualRegister to = OperationEffects.written(operation);
                if (to != null) {
                    touched.put(to, i);
                    written.put(to, i);
                }
            }
            steps.removeIf(step -> step.operation() instanceof IrCopy c && c.to() == c.from());
        }
        return changed;
    }

    /**
     * A register written once, by a copy of one that is written more often, is that one if nobody
     * reads it after the other is written again: either all its readers change or none, so that a
     * check and the access that it is for stay on one register.
     */
    private static final class Readers {
        private final WorkingFunction body;
        private final int[] writes;
        private final int[] reads;
        private final int[] valid;
        private boolean replacing;
        private boolean changed;

        Readers(WorkingFunction body) {
            this.body = body;
            writes = body.writes();
            reads = new int[writes.length];
            valid = new int[writes.length];
        }

        boolean replace() {
            walk();
            for (int i = 0; i < reads.length && !replacing; i++) {
                replacing = valid[i] > 0 && valid[i] == reads[i];
            }
            if (replacing) {
                walk();
            }
            return changed;
        }

        private void walk() {
            int[] predecessors = body.predecessors();
            Map<BasicBlock, Map<VirtualRegister, VirtualRegister>> carried = new HashMap<>();
            for (BasicBlock block : body.layout()) {
                Map<VirtualRegister, VirtualRegister> before = carried.remove(block);
                Map<VirtualRegister, VirtualRegister> copies =
                        before == null ? new HashMap<>() : new HashMap<>(before);
                List<BlockStep> steps = block.steps();
                for (int i = 0; i < steps.size(); i++) {
                    IrOperation operation = steps.get(i).operation();
                    if (replacing) {
                        IrOperation after =
                                OperationEffects.withReads(operation, r -> replaced(copies, r));
                        if (!after.equals(operation)) {
                            steps.set(i, new BlockStep(after, steps.get(i).span()));
                            changed = true;
                        }
                    } else {
                        OperationEffects.reads(operation, register -> count(copies, register));
                    }
                    update(copies, operation);
                }
                for (BasicBlock next : OperationEffects.targets(block)) {
                    if (predecessors[next.index()] == 1 && !copies.isEmpty()) {
                        carried.put(next, copies);
                    }
                }
            }
        }

        private void count(Map<VirtualRegister, VirtualRegister> copies, VirtualRegister register) {
            reads[register.index()]++;
            if (copies.containsKey(register)) {
                valid[register.index()]++;
            }
        }

        private VirtualRegister replaced(
                Map<VirtualRegister, VirtualRegister> copies, VirtualRegister register) {
            VirtualRegister from = copies.get(register);
            return from != null && valid[register.index()] == reads[register.index()]
                    ? from
                    : register;
        }

        private void update(Map<VirtualRegister, VirtualRegister> copies, IrOperation operation) {
            VirtualRegister written = OperationEffects.written(operation);
            if (written == null) {
                return;
            }
            if (writes[written.index()] > 1) {
                copies.values().removeIf(from -> from == written);
            } else if (operation instanceof IrCopy(VirtualRegister to, VirtualRegister from)
                    && to.kind() == from.kind()
                    && writes[from.index()] > 1
                    && copies.size() < MOST) {
                copies.put(to, from);
            }
        }
    }
}
