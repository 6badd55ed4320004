package sonde.lang.ir;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import sonde.lang.ir.BasicBlock.BlockStep;
import sonde.lang.ir.IrOperation.IrConstant;
import sonde.lang.ir.IrOperation.IrGoto;

/** Writes 0 at the entry to registers that some path reads before it writes them. */
final class EntryInitialisation {
    private EntryInitialisation() {}

    static void initialise(WorkingFunction body) {
        BitSet alive = new BitSet();
        Liveness.of(body, LivenessSubjects.registers(body)).atStart(body.entry(), alive::set);
        body.parameters().forEach(parameter -> alive.clear(parameter.index()));
        if (alive.isEmpty()) {
            return;
        }
        // A loop may come back to the first block, which must not write them again.
        List<BlockStep> zeros = new ArrayList<>();
        alive.stream()
                .forEach(index ->
                        zeros.add(
                                new BlockStep(
                                        new IrConstant(body.registers().get(index), 0), null)));
        zeros.add(new BlockStep(new IrGoto(body.entry()), null));
        BasicBlock first = body.block();
        first.steps().addAll(zeros);
        body.layout().addFirst(first);
    }
}
