package sonde.lang.ir;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sonde.lang.ir.BasicBlock.BlockStep;
import sonde.lang.ir.IrOperand.IrNumber;
import sonde.lang.ir.IrOperation.Ending;
import sonde.lang.ir.IrOperation.IrBranch;
import sonde.lang.ir.IrOperation.IrGoto;
import sonde.lang.ir.IrOperation.IrReturn;

/** Removes blocks that are never reached, jumps to jumps, and joins blocks that are one. */
final class ControlFlow {
    private ControlFlow() {}

    /** Whether anything changed. */
    static boolean simplify(WorkingFunction body) {
        boolean changed = thread(body);
        changed |= removeUnreachable(body);
        changed |= join(body);
        return changed;
    }

    private static boolean thread(WorkingFunction body) {
        boolean changed = false;
        for (BasicBlock block : body.layout()) {
            BlockStep last = block.steps().getLast();
            if (last.operation() instanceof Ending before) {
                Ending after = OperationEffects.withTargets(before, ControlFlow::destination);
                if (after instanceof IrBranch branch && branch.then() == branch.otherwise()) {
                    after = new IrGoto(branch.then());
                }
                if (!after.equals(before)) {
                    block.steps().set(block.steps().size() - 1, new BlockStep(after, last.span()));
                    changed = true;
                }
            }
        }
        return changed;
    }

    /** Where one comes to who goes to a block that only goes on. */
    private static BasicBlock destination(BasicBlock block) {
        BasicBlock at = block;
        // A loop of nothing but jumps has no destination: any of its blocks will do.
        for (int i = 0; i < 64; i++) {
            if (at.steps().size() == 1
                    && at.steps().getFirst().operation() instanceof IrGoto(BasicBlock target)) {
                at = target;
            } else {
                break;
            }
        }
        return at;
    }

    static boolean removeUnreachable(WorkingFunction body) {
        boolean[] reached = new boolean[body.blockCount()];
        Deque<BasicBlock> open = new ArrayDeque<>();
        open.add(body.entry());
        reached[body.entry().index()] = true;
        while (!open.isEmpty()) {
            for (BasicBlock target : OperationEffects.targets(open.removeLast())) {
                if (!reached[target.index()]) {
                    reached[target.index()] = true;
                    open.add(target);
                }
            }
        }
        return body.layout().removeIf(block -> !reached[block.index()]);
    }

    /** Appends to each block the one that it alone goes to. */
    private static boolean join(WorkingFunction body) {
        int[] predecessors = body.predecessors();
        boolean[] gone = new boolean[body.blockCount()];
        boolean changed = false;
        for (BasicBlock block : body.layout()) {
            List<BlockStep> steps = block.steps();
            while (!gone[block.index()]
                    && steps.getLast().operation() instanceof IrGoto(BasicBlock next)
                    && next != block
                    && predecessors[next.index()] == 1) {
                steps.removeLast();
                steps.addAll(next.steps());
                gone[next.index()] = true;
                changed = true;
            }
        }
        if (changed) {
            body.layout().removeIf(block -> gone[block.index()]);
        }
        return changed;
    }

    /** Lets blocks that return the same number share the end: two instructions become a jump. */
    static void shareReturns(WorkingFunction body) {
        Map<IrOperand, List<BasicBlock>> ends = new HashMap<>();
        for (BasicBlock block : body.layout()) {
            if (block.steps().getLast().operation() instanceof IrReturn(IrNumber value)) {
                ends.computeIfAbsent(value, _ -> new ArrayList<>()).add(block);
            }
        }
        List<BasicBlock> order = new ArrayList<>();
        for (BasicBlock block : body.layout()) {
            order.add(block);
            BlockStep last = block.steps().getLast();
            if (last.operation() instanceof IrReturn(IrNumber value)) {
                List<BasicBlock> same = ends.getOrDefault(value, List.of());
                if (same.size() > 1 && same.getLast() == block) {
                    BasicBlock end = body.block();
                    end.steps().add(last);
                    order.add(end);
                    for (BasicBlock one : same) {
                        int at = one.steps().size() - 1;
                        one.steps()
                                .set(
                                        at,
                                        new BlockStep(new IrGoto(end), one.steps().get(at).span()));
                    }
                }
            }
        }
        body.layout(order);
        if (thread(body)) {
            removeUnreachable(body);
        }
    }
}
