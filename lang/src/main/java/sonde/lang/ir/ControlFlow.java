package sonde.lang.ir;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sonde.lang.ir.Block.Step;
import sonde.lang.ir.Operation.Branch;
import sonde.lang.ir.Operation.Ending;
import sonde.lang.ir.Operation.Goto;
import sonde.lang.ir.Operation.Return;

/** Removes blocks that are never reached, jumps to jumps, and joins blocks that are one. */
final class ControlFlow {
    private ControlFlow() {}

    /** Whether anything changed. */
    static boolean simplify(Body body) {
        boolean changed = thread(body);
        changed |= removeUnreachable(body);
        changed |= join(body);
        return changed;
    }

    private static boolean thread(Body body) {
        boolean changed = false;
        for (Block block : body.layout()) {
            Step last = block.steps().getLast();
            if (last.operation() instanceof Ending before) {
                Ending after = Effects.withTargets(before, ControlFlow::destination);
                if (after instanceof Branch branch && branch.then() == branch.otherwise()) {
                    after = new Goto(branch.then());
                }
                if (!after.equals(before)) {
                    block.steps().set(block.steps().size() - 1, new Step(after, last.span()));
                    changed = true;
                }
            }
        }
        return changed;
    }

    /** Where one comes to who goes to a block that only goes on. */
    private static Block destination(Block block) {
        Block at = block;
        // A loop of nothing but jumps has no destination: any of its blocks will do.
        for (int i = 0; i < 64; i++) {
            if (at.steps().size() == 1
                    && at.steps().getFirst().operation() instanceof Goto(Block target)) {
                at = target;
            } else {
                break;
            }
        }
        return at;
    }

    static boolean removeUnreachable(Body body) {
        boolean[] reached = new boolean[body.blockCount()];
        Deque<Block> open = new ArrayDeque<>();
        open.add(body.entry());
        reached[body.entry().index()] = true;
        while (!open.isEmpty()) {
            for (Block target : Effects.targets(open.removeLast())) {
                if (!reached[target.index()]) {
                    reached[target.index()] = true;
                    open.add(target);
                }
            }
        }
        return body.layout().removeIf(block -> !reached[block.index()]);
    }

    /** Appends to each block the one that it alone goes to. */
    private static boolean join(Body body) {
        int[] predecessors = body.predecessors();
        boolean[] gone = new boolean[body.blockCount()];
        boolean changed = false;
        for (Block block : body.layout()) {
            List<Step> steps = block.steps();
            while (!gone[block.index()]
                    && steps.getLast().operation() instanceof Goto(Block next)
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
    static void shareReturns(Body body) {
        Map<Operand, List<Block>> ends = new HashMap<>();
        for (Block block : body.layout()) {
            if (block.steps().getLast().operation() instanceof Return(Operand.Number value)) {
                ends.computeIfAbsent(value, _ -> new ArrayList<>()).add(block);
            }
        }
        List<Block> order = new ArrayList<>();
        for (Block block : body.layout()) {
            order.add(block);
            Step last = block.steps().getLast();
            if (last.operation() instanceof Return(Operand.Number value)) {
                List<Block> same = ends.getOrDefault(value, List.of());
                if (same.size() > 1 && same.getLast() == block) {
                    Block end = body.block();
                    end.steps().add(last);
                    order.add(end);
                    for (Block one : same) {
                        int at = one.steps().size() - 1;
                        one.steps().set(at, new Step(new Goto(end), one.steps().get(at).span()));
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
