package sonde.lang.ir;

import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.Width;
import sonde.lang.ir.BasicBlock.BlockStep;
import sonde.lang.ir.IrOperation.IrCopy;
import sonde.lang.ir.IrOperation.IrLoad;
import sonde.lang.ir.IrOperation.IrStore;

/**
 * Keeps registers that found no place in memory: each step that reads one loads it first, each that
 * writes one stores it then, by registers that live for that step. What can be made again is made
 * again instead.
 */
final class RegisterSpilling {
    private final WorkingFunction body;
    private final BitSet tiny;
    private final Map<VirtualRegister, IrOperation> made = new HashMap<>();
    private final Map<VirtualRegister, StackObject> slots = new HashMap<>();

    private RegisterSpilling(WorkingFunction body, BitSet tiny, Set<VirtualRegister> spilled) {
        this.body = body;
        this.tiny = tiny;
        @Nullable IrOperation[] definitions = body.definitions();
        for (VirtualRegister register : body.registers().subList(0, definitions.length)) {
            if (spilled.contains(register)) {
                IrOperation definition = definitions[register.index()];
                if (definition != null && OperationEffects.isRepeatable(definition)) {
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
    static void apply(WorkingFunction body, Set<VirtualRegister> spilled, BitSet tiny) {
        RegisterSpilling spilling = new RegisterSpilling(body, tiny, spilled);
        for (BasicBlock block : body.layout()) {
            List<BlockStep> before = List.copyOf(block.steps());
            block.steps().clear();
            before.forEach(step -> spilling.step(step, block.steps()));
        }
    }

    private boolean isSpilled(VirtualRegister register) {
        return made.containsKey(register) || slots.containsKey(register);
    }

    private void step(BlockStep step, List<BlockStep> out) {
        IrOperation operation = step.operation();
        VirtualRegister to = OperationEffects.written(operation);
        if (to != null && made.containsKey(to)) {
            return;
        }
        if (operation instanceof IrCopy copy && copied(copy, step, out)) {
            return;
        }
        Map<VirtualRegister, VirtualRegister> here = new HashMap<>();
        OperationEffects.reads(
                operation,
                register -> {
                    if (isSpilled(register) && !here.containsKey(register)) {
                        VirtualRegister now = temporary(register);
                        here.put(register, now);
                        out.add(new BlockStep(fetched(register, now), step.span()));
                    }
                });
        IrOperation after = OperationEffects.withReads(operation, r -> here.getOrDefault(r, r));
        if (to == null || !slots.containsKey(to)) {
            out.add(new BlockStep(after, step.span()));
            return;
        }
        VirtualRegister now = here.containsKey(to) ? here.get(to) : temporary(to);
        out.add(new BlockStep(OperationEffects.withWritten(after, _ -> now), step.span()));
        out.add(new BlockStep(stored(to, now), step.span()));
    }

    /** A copy from or to memory needs no register of its own. */
    private boolean copied(IrCopy copy, BlockStep step, List<BlockStep> out) {
        boolean from = isSpilled(copy.from());
        boolean to = slots.containsKey(copy.to());
        if (from == to) {
            return false;
        }
        IrOperation access =
                from ? fetched(copy.from(), copy.to()) : stored(copy.to(), copy.from());
        out.add(new BlockStep(access, step.span()));
        return true;
    }

    private VirtualRegister temporary(VirtualRegister register) {
        VirtualRegister now = body.register(register.kind(), register.name());
        tiny.set(now.index());
        return now;
    }

    private IrOperation fetched(VirtualRegister register, VirtualRegister to) {
        StackObject slot = slots.get(register);
        return slot == null
                ? OperationEffects.withWritten(
                        made.getOrDefault(register, new IrCopy(to, register)), _ -> to)
                : new IrLoad(Width.U64, false, to, slot, 0);
    }

    private IrOperation stored(VirtualRegister register, VirtualRegister from) {
        StackObject slot = slots.get(register);
        if (slot == null) {
            throw new IllegalStateException(register + " has no slot");
        }
        return new IrStore(Width.U64, slot, 0, from);
    }
}
