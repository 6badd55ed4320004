package sonde.lang.ir;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import sonde.lang.ir.Block.Step;

/**
 * Which objects of a frame may lie in the same bytes: an object is in use between a step that
 * touched it and one that will, on any path, unless a store fills it in between; two that are never
 * in use together may share.
 */
final class Sharing {
    /** Objects in the same bytes. */
    record Group(List<StackObject> objects, int sizeBytes, int align) {}

    private final Touches touches;
    private final int count;
    private final BitSet[] conflicts;
    private final BitSet[] reached;
    private final BitSet[] wanted;

    private Sharing(Body body) {
        touches = new Touches(body);
        count = body.objects().size();
        conflicts = sets(count);
        reached = sets(body.blockCount());
        wanted = sets(body.blockCount());
        solve(body);
        for (Block block : body.layout()) {
            collide(block);
        }
    }

    /** Looks at a function before its registers are given; the objects are the same later. */
    static Sharing of(Body body) {
        return new Sharing(body);
    }

    private static BitSet[] sets(int count) {
        BitSet[] sets = new BitSet[count];
        Arrays.setAll(sets, _ -> new BitSet());
        return sets;
    }

    private BitSet touched(Operation operation) {
        BitSet all = new BitSet();
        touches.of(operation, all::or);
        return all;
    }

    /** What is touched before each block on some path, and what behind its beginning. */
    private void solve(Body body) {
        boolean changed = true;
        while (changed) {
            changed = false;
            for (Block block : body.layout()) {
                BitSet out = (BitSet) reached[block.index()].clone();
                block.steps().forEach(step -> out.or(touched(step.operation())));
                for (Block target : Effects.targets(block)) {
                    changed |= add(reached[target.index()], out);
                }
            }
            for (Block block : body.layout().reversed()) {
                BitSet alive = atEnd(block);
                for (Step step : block.steps().reversed()) {
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

    private BitSet atEnd(Block block) {
        BitSet alive = new BitSet();
        Effects.targets(block).forEach(target -> alive.or(wanted[target.index()]));
        return alive;
    }

    private void before(Operation operation, BitSet alive) {
        int filled = Touches.filled(operation);
        if (filled >= 0) {
            alive.clear(filled);
        } else {
            alive.or(touched(operation));
        }
    }

    /** Notes who is in use together: where a block begins, and whenever one is touched. */
    private void collide(Block block) {
        BitSet before = reached[block.index()];
        List<BitSet> reachedAt = new ArrayList<>();
        BitSet sofar = (BitSet) before.clone();
        for (Step step : block.steps()) {
            sofar.or(touched(step.operation()));
            reachedAt.add((BitSet) sofar.clone());
        }
        BitSet alive = atEnd(block);
        for (int i = block.steps().size() - 1; i >= 0; i--) {
            Operation operation = block.steps().get(i).operation();
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
    List<Group> groups(List<StackObject> objects) {
        List<Group> groups = new ArrayList<>();
        for (StackObject object : objects) {
            int at = 0;
            while (at < groups.size()
                    && !(object.index() < count
                            && groups.get(at).objects().stream()
                                    .allMatch(other -> mayShare(object, other)))) {
                at++;
            }
            if (at == groups.size()) {
                groups.add(new Group(List.of(object), object.sizeBytes(), object.align()));
            } else {
                Group group = groups.get(at);
                List<StackObject> more = new ArrayList<>(group.objects());
                more.add(object);
                groups.set(
                        at,
                        new Group(
                                more,
                                Math.max(group.sizeBytes(), object.sizeBytes()),
                                Math.max(group.align(), object.align())));
            }
        }
        return groups;
    }
}
