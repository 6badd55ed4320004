package sonde.lang.ir;

import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.Width;
import sonde.lang.ir.Block.Step;
import sonde.lang.ir.Operation.Copy;
import sonde.lang.ir.Operation.Load;
import sonde.lang.ir.Operation.Store;

/**
 * Keeps registers that found no place in memory: each step that reads one loads it first, each that
 * writes one stores it then, by registers that live for that step. What can be made again is made
 * again instead.
 */
final class Spilling {
    private final Body body;
    private final BitSet tiny;
    private final Map<Vreg, Operation> made = new HashMap<>();
    private final Map<Vreg, StackObject> slots = new HashMap<>();

    private Spilling(Body body, BitSet tiny, Set<Vreg> spilled) {
        this.body = body;
        this.tiny = tiny;
        @Nullable Operation[] definitions = body.definitions();
        for (Vreg register : body.registers().subList(0, definitions.length)) {
            if (spilled.contains(register)) {
                Operation definition = definitions[register.index()];
                if (definition != null && Effects.isRepeatable(definition)) {
                    made.put(register, definition);
                } else {
                    slots.put(register, body.slot(register.kind()));
                }
            }
        }
    }

    /**
     * Changes a function so.
     *
     * @param tiny takes the registers that live for one step
     */
    static void apply(Body body, Set<Vreg> spilled, BitSet tiny) {
        Spilling spilling = new Spilling(body, tiny, spilled);
        for (Block block : body.layout()) {
            List<Step> before = List.copyOf(block.steps());
            block.steps().clear();
            before.forEach(step -> spilling.step(step, block.steps()));
        }
    }

    private boolean isSpilled(Vreg register) {
        return made.containsKey(register) || slots.containsKey(register);
    }

    private void step(Step step, List<Step> out) {
        Operation operation = step.operation();
        Vreg to = Effects.written(operation);
        if (to != null && made.containsKey(to)) {
            return;
        }
        if (operation instanceof Copy copy && copied(copy, step, out)) {
            return;
        }
        Map<Vreg, Vreg> here = new HashMap<>();
        Effects.reads(
                operation,
                register -> {
                    if (isSpilled(register) && !here.containsKey(register)) {
                        Vreg now = temporary(register);
                        here.put(register, now);
                        out.add(new Step(fetched(register, now), step.span()));
                    }
                });
        Operation after = Effects.withReads(operation, r -> here.getOrDefault(r, r));
        if (to == null || !slots.containsKey(to)) {
            out.add(new Step(after, step.span()));
            return;
        }
        Vreg now = here.containsKey(to) ? here.get(to) : temporary(to);
        out.add(new Step(Effects.withWritten(after, _ -> now), step.span()));
        out.add(new Step(stored(to, now), step.span()));
    }

    /** A copy from or to memory needs no register of its own. */
    private boolean copied(Copy copy, Step step, List<Step> out) {
        boolean from = isSpilled(copy.from());
        boolean to = slots.containsKey(copy.to());
        if (from == to) {
            return false;
        }
        Operation access = from ? fetched(copy.from(), copy.to()) : stored(copy.to(), copy.from());
        out.add(new Step(access, step.span()));
        return true;
    }

    private Vreg temporary(Vreg register) {
        Vreg now = body.register(register.kind(), register.name());
        tiny.set(now.index());
        return now;
    }

    private Operation fetched(Vreg register, Vreg to) {
        StackObject slot = slots.get(register);
        return slot == null
                ? Effects.withWritten(made.getOrDefault(register, new Copy(to, register)), _ -> to)
                : new Load(Width.U64, false, to, slot, 0);
    }

    private Operation stored(Vreg register, Vreg from) {
        StackObject slot = slots.get(register);
        if (slot == null) {
            throw new IllegalStateException(register + " has no slot");
        }
        return new Store(Width.U64, slot, 0, from);
    }
}
