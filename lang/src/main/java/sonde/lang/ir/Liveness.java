package sonde.lang.ir;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import java.util.function.IntConsumer;
import sonde.lang.ir.BasicBlock.BlockStep;

/**
 * The registers whose value is still wanted where blocks begin and end. Only those that some block
 * reads before it writes them can be, and only they take bits.
 */
final class Liveness {
    private final int[] dense;
    private final int[] subjects;
    private final BitSet[] in;
    private final BitSet[] out;

    private Liveness(WorkingFunction body, LivenessSubjects what) {
        dense = new int[what.count()];
        subjects = new int[what.count()];
        int blocks = body.blockCount();
        in = new BitSet[blocks];
        out = new BitSet[blocks];
        BitSet[] written = new BitSet[blocks];
        number(body, what);
        for (BasicBlock block : body.layout()) {
            in[block.index()] = new BitSet();
            out[block.index()] = new BitSet();
            written[block.index()] = new BitSet();
            local(block, what, in[block.index()], written[block.index()]);
        }
        solve(body, written);
    }

    static Liveness of(WorkingFunction body, LivenessSubjects what) {
        return new Liveness(body, what);
    }

    /** Gives a bit to whatever a block reads before writing it. */
    private void number(WorkingFunction body, LivenessSubjects what) {
        Arrays.fill(dense, -1);
        int[] writtenIn = new int[dense.length];
        int[] count = {0};
        for (BasicBlock block : body.layout()) {
            int mark = block.index() + 1;
            for (BlockStep step : block.steps()) {
                what.reads(
                        step.operation(),
                        one -> {
                            if (writtenIn[one] != mark && dense[one] < 0) {
                                dense[one] = count[0];
                                subjects[count[0]++] = one;
                            }
                        });
                int to = what.written(step.operation());
                if (to >= 0) {
                    writtenIn[to] = mark;
                }
            }
        }
    }

    private void local(BasicBlock block, LivenessSubjects what, BitSet read, BitSet written) {
        for (BlockStep step : block.steps()) {
            what.reads(
                    step.operation(),
                    one -> {
                        if (dense[one] >= 0 && !written.get(dense[one])) {
                            read.set(dense[one]);
                        }
                    });
            int to = what.written(step.operation());
            if (to >= 0 && dense[to] >= 0) {
                written.set(dense[to]);
            }
        }
    }

    private void solve(WorkingFunction body, BitSet[] written) {
        List<List<BasicBlock>> before = new ArrayList<>();
        for (int i = 0; i < body.blockCount(); i++) {
            before.add(new ArrayList<>(2));
        }
        Deque<BasicBlock> open = new ArrayDeque<>();
        boolean[] queued = new boolean[body.blockCount()];
        for (BasicBlock block : body.layout()) {
            OperationEffects.targets(block)
                    .forEach(target -> before.get(target.index()).add(block));
            open.addFirst(block);
            queued[block.index()] = true;
        }
        while (!open.isEmpty()) {
            BasicBlock block = open.removeFirst();
            queued[block.index()] = false;
            BitSet wanted = out[block.index()];
            for (BasicBlock target : OperationEffects.targets(block)) {
                wanted.or(in[target.index()]);
            }
            BitSet through = (BitSet) wanted.clone();
            through.andNot(written[block.index()]);
            BitSet atStart = in[block.index()];
            int known = atStart.cardinality();
            atStart.or(through);
            if (atStart.cardinality() != known) {
                for (BasicBlock one : before.get(block.index())) {
                    if (!queued[one.index()]) {
                        queued[one.index()] = true;
                        open.addLast(one);
                    }
                }
            }
        }
    }

    /** Tells who is alive where a block begins. */
    void atStart(BasicBlock block, IntConsumer alive) {
        in[block.index()].stream().forEach(bit -> alive.accept(subjects[bit]));
    }

    /** Tells who is alive where a block ends. */
    void atEnd(BasicBlock block, IntConsumer alive) {
        out[block.index()].stream().forEach(bit -> alive.accept(subjects[bit]));
    }
}
