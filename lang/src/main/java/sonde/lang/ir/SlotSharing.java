package sonde.lang.ir;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import sonde.lang.ir.BasicBlock.BlockStep;

/**
 * Which objects of a frame may lie in the same bytes: an object is in use between a step that
 * touched it and one that will, on any path, unless a store fills it in between; two that are never
 * in use together may share.
 */
final class SlotSharing {
    /** Objects in the same bytes. */
    record SharedSlot(List<StackObject> objects, int sizeBytes, int align) {}

    private final ObjectAccesses touches;
    private final int count;
    private final BitSet[] conflicts;
    private final BitSet[] reached;
    private final BitSet[] wanted;

    private SlotSharing(WorkingFunction body) {
        touches = new ObjectAccesses(body);
        count = body.objects().size();
        conflicts = sets(count);
        reached = sets(body.blockCount());
        wanted = sets(body.blockCount());
        solve(body);
        for (BasicBlock block : body.layout()) {
            collide(block);
        }
    }

    /** Looks at a function before its registers are given; the objects are the same later. */
    static SlotSharing of(WorkingFunction body) {
        return new SlotSharing(body);
    }

    private static BitSet[] sets(int count) {
        BitSet[] sets = new BitSet[count];
        Arrays.setAll(sets, _ -> new BitSet());
        return sets;
    }

    private BitSet touched(IrOperation operation) {
        BitSet all = new BitSet();
        touches.of(operation, all::or);
        return all;
    }

    /** What is touched before each block on some path, and what behind its beginning. */
    private void solve(WorkingFunction body) {
        boolean changed = true;
        while (changed) {
            changed = false;
            for (BasicBlock block : body.layout()) {
                BitSet out = (BitSet) reached[block.index()].clone();
                block.steps().forEach(step -> out.or(touched(step.operation())));
                for (BasicBlock target : OperationEffects.targets(block)) {
                    changed |= add(reached[target.index()], out);
                }
            }
            for (BasicBlock block : body.layout().reversed()) {
                BitSet alive = atEnd(block);
                for (BlockStep step : block.steps().reversed()) {
                    before(step.operation(), alive);
                }
                changed |= add(wanted[block.index()], alive);
            }
        }
    }

    private static boolean add(BitSet to, BitSet more) {
        int known = to.cardinality();
        to.or(more);
        return to.cardinality() != known;
    }

    private BitSet atEnd(BasicBlock block) {
        BitSet alive = new BitSet();
        OperationEffects.targets(block).forEach(target -> alive.or(wanted[target.index()]));
        return alive;
    }

    private void before(IrOperation operation, BitSet alive) {
        int filled = ObjectAccesses.filled(operation);
        if (filled >= 0) {
            alive.clear(filled);
        } else {
            alive.or(touched(operation));
        }
    }

    /** Notes who is in use together: where a block begins, and whenever one is touched. */
    private void collide(BasicBlock block) {
        BitSet before = reached[block.index()];
        List<BitSet> reachedAt = new ArrayList<>();
        BitSet sofar = (BitSet) before.clone();
        for (BlockStep step : block.steps()) {
            sofar.or(touched(step.operation()));
            reachedAt.add((BitSet) sofar.clone());
        }
        BitSet alive = atEnd(block);
        for (int i = block.steps().size() - 1; i >= 0; i--) {
            IrOperation operation = block.steps().get(i).operation();
            BitSet now = touched(operation);
            BitSet used = (BitSet) alive.clone();
            before(operation, alive);
            if (!now.isEmpty()) {
                used.or(alive);
                used.and(reachedAt.get(i));
                used.or(now);
                now.stream().forEach(one -> collide(one, used));
            }
        }
        BitSet used = (BitSet) alive.clone();
        used.and(before);
        used.stream().forEach(one -> collide(one, used));
    }

    private void collide(int one, BitSet others) {
        conflicts[one].or(others);
        others.stream().forEach(other -> conflicts[other].set(one));
    }

    private boolean mayShare(StackObject a, StackObject b) {
        boolean escaped = touches.escaped().get(a.index()) || touches.escaped().get(b.index());
        return !escaped && !conflicts[a.index()].get(b.index());
    }

    /** Groups of some of the objects, each in the first that takes it. */
    List<SharedSlot> groups(List<StackObject> objects) {
        List<SharedSlot> groups = new ArrayList<>();
        for (StackObject object : objects) {
            int at = 0;
            while (at < groups.size()
                    && !(object.index() < count
                            && groups.get(at).objects().stream()
                                    .allMatch(other -> mayShare(object, other)))) {
                at++;
            }
            if (at == groups.size()) {
                groups.add(new SharedSlot(List.of(object), object.sizeBytes(), object.align()));
            } else {
                SharedSlot group = groups.get(at);
                List<StackObject> more = new ArrayList<>(group.objects());
                more.add(object);
                groups.set(
                        at,
                        new SharedSlot(
                                more,
                                Math.max(group.sizeBytes(), object.sizeBytes()),
                                Math.max(group.align(), object.align())));
            }
        }
        return groups;
    }
}
