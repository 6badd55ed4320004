package sonde.lang.ir;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import sonde.lang.ir.Block.Step;
import sonde.lang.ir.Operation.Copy;

/**
 * Makes one register of those that are copies of each other. A name that the program knows wins
 * over none.
 */
final class Copies {
    private static final int MOST = 64;

    private Copies() {}

    /** Whether anything changed. */
    static boolean remove(Body body) {
        boolean changed = unite(body);
        changed |= retarget(body);
        changed |= new Readers(body).replace();
        return changed;
    }

    /**
     * Where both sides are written once, each has the value of the other wherever it is read: the
     * copy comes before all readers of the one, and after the only write of the other.
     */
    private static boolean unite(Body body) {
        int[] writes = body.writes();
        Vreg[] same = body.registers().toArray(Vreg[]::new);
        boolean changed = false;
        for (Block block : body.layout()) {
            for (Step step : block.steps()) {
                if (step.operation() instanceof Copy(Vreg to, Vreg from)
                        && to.kind() == from.kind()
                        && writes[to.index()] == 1
                        && writes[from.index()] == 1) {
                    Vreg a = find(same, to);
                    Vreg b = find(same, from);
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

    private static Vreg find(Vreg[] same, Vreg register) {
        Vreg at = register;
        while (same[at.index()] != at) {
            same[at.index()] = same[same[at.index()].index()];
            at = same[at.index()];
        }
        return at;
    }

    private static void rewrite(Body body, UnaryOperator<Vreg> change) {
        for (Block block : body.layout()) {
            block.steps()
                    .replaceAll(step ->
                            new Step(
                                    Effects.withWritten(
                                            Effects.withReads(step.operation(), change), change),
                                    step.span()));
            block.steps()
                    .removeIf(step -> step.operation() instanceof Copy c && c.to() == c.from());
        }
    }

    /** Lets what computes a value only to copy it write where it is copied to. */
    private static boolean retarget(Body body) {
        int[] writes = body.writes();
        int[] reads = new int[writes.length];
        for (Block block : body.layout()) {
            block.steps().forEach(step -> Effects.reads(step.operation(), r -> reads[r.index()]++));
        }
        boolean changed = false;
        for (Block block : body.layout()) {
            Map<Vreg, Integer> touched = new HashMap<>();
            Map<Vreg, Integer> written = new HashMap<>();
            List<Step> steps = block.steps();
            for (int i = 0; i < steps.size(); i++) {
                Operation operation = steps.get(i).operation();
                int now = i;
                if (operation instanceof Copy(Vreg to, Vreg from)
                        && to.kind() == from.kind()
                        && writes[from.index()] == 1
                        && reads[from.index()] == 1
                        && written.containsKey(from)
                        && touched.getOrDefault(to, -1) <= written.get(from)) {
                    int at = written.get(from);
                    Step before = steps.get(at);
                    steps.set(
                            at,
                            new Step(
                                    Effects.withWritten(before.operation(), _ -> to),
                                    before.span()));
                    // Dropped with the other copies of a register to itself.
                    steps.set(i, new Step(new Copy(to, to), null));
                    changed = true;
                }
                Effects.reads(operation, register -> touched.put(register, now));
                Vreg to = Effects.written(operation);
                if (to != null) {
                    touched.put(to, i);
                    written.put(to, i);
                }
            }
            steps.removeIf(step -> step.operation() instanceof Copy c && c.to() == c.from());
        }
        return changed;
    }

    /**
     * A register written once, by a copy of one that is written more often, is that one if nobody
     * reads it after the other is written again: either all its readers change or none, so that a
     * check and the access that it is for stay on one register.
     */
    private static final class Readers {
        private final Body body;
        private final int[] writes;
        private final int[] reads;
        private final int[] valid;
        private boolean replacing;
        private boolean changed;

        Readers(Body body) {
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
            Map<Block, Map<Vreg, Vreg>> carried = new HashMap<>();
            for (Block block : body.layout()) {
                Map<Vreg, Vreg> before = carried.remove(block);
                Map<Vreg, Vreg> copies = before == null ? new HashMap<>() : new HashMap<>(before);
                List<Step> steps = block.steps();
                for (int i = 0; i < steps.size(); i++) {
                    Operation operation = steps.get(i).operation();
                    if (replacing) {
                        Operation after = Effects.withReads(operation, r -> replaced(copies, r));
                        if (!after.equals(operation)) {
                            steps.set(i, new Step(after, steps.get(i).span()));
                            changed = true;
                        }
                    } else {
                        Effects.reads(operation, register -> count(copies, register));
                    }
                    update(copies, operation);
                }
                for (Block next : Effects.targets(block)) {
                    if (predecessors[next.index()] == 1 && !copies.isEmpty()) {
                        carried.put(next, copies);
                    }
                }
            }
        }

        private void count(Map<Vreg, Vreg> copies, Vreg register) {
            reads[register.index()]++;
            if (copies.containsKey(register)) {
                valid[register.index()]++;
            }
        }

        private Vreg replaced(Map<Vreg, Vreg> copies, Vreg register) {
            Vreg from = copies.get(register);
            return from != null && valid[register.index()] == reads[register.index()]
                    ? from
                    : register;
        }

        private void update(Map<Vreg, Vreg> copies, Operation operation) {
            Vreg written = Effects.written(operation);
            if (written == null) {
                return;
            }
            if (writes[written.index()] > 1) {
                copies.values().removeIf(from -> from == written);
            } else if (operation instanceof Copy(Vreg to, Vreg from)
                    && to.kind() == from.kind()
                    && writes[from.index()] > 1
                    && copies.size() < MOST) {
                copies.put(to, from);
            }
        }
    }
}
