package sonde.lang.ir;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import sonde.lang.ir.Block.Step;

/** Writes 0 at the entry to registers that some path reads before it writes them. */
final class Entry {
    private Entry() {}

    static void initialise(Body body) {
        BitSet alive = new BitSet();
        Liveness.of(body, Subjects.registers(body)).atStart(body.entry(), alive::set);
        body.parameters().forEach(parameter -> alive.clear(parameter.index()));
        if (alive.isEmpty()) {
            return;
        }
        // A loop may come back to the first block, which must not write them again.
        List<Step> zeros = new ArrayList<>();
        alive.stream()
                .forEach(index ->
                        zeros.add(
                                new Step(
                                        new Operation.Constant(body.registers().get(index), 0),
                                        null)));
        zeros.add(new Step(new Operation.Goto(body.entry()), null));
        Block first = body.block();
        first.steps().addAll(zeros);
        body.layout().addFirst(first);
    }
}
