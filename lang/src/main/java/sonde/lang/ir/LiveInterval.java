package sonde.lang.ir;

import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import sonde.lang.ir.BasicBlock.BlockStep;

/**
 * When something is alive: ranges of positions, in order and apart. The step of number i, counted
 * over the blocks as they lie, reads at 2i and writes at 2i + 1; a range ends behind its last
 * position.
 */
final class LiveInterval {
    private int[] bounds = new int[4];
    private int size;

    private LiveInterval() {}

    /** How many ranges. */
    int ranges() {
        return size / 2;
    }

    boolean isEmpty() {
        return size == 0;
    }

    int from(int range) {
        return bounds[size - 2 - 2 * range + 1];
    }

    int to(int range) {
        return bounds[size - 2 - 2 * range];
    }

    int start() {
        return from(0);
    }

    /** How many positions. */
    int length() {
        int sum = 0;
        for (int i = 0; i < ranges(); i++) {
            sum += to(i) - from(i);
        }
        return sum;
    }

    /** Adds a range that begins no later than all that are there; they are kept backwards. */
    private void prepend(int from, int to) {
        if (size > 0 && bounds[size - 1] <= to) {
            bounds[size - 1] = Math.min(from, bounds[size - 1]);
            bounds[size - 2] = Math.max(to, bounds[size - 2]);
            return;
        }
        if (size == bounds.length) {
            bounds = Arrays.copyOf(bounds, 2 * size);
        }
        bounds[size++] = to;
        bounds[size++] = from;
    }

    /** A write: what is alive behind it is not before. */
    private void begin(int at) {
        if (size > 0 && bounds[size - 1] <= at && at < bounds[size - 2]) {
            bounds[size - 1] = at;
        } else {
            prepend(at, at + 1);
        }
    }

    /** When each is alive, by number. */
    static LiveInterval[] of(WorkingFunction body, LivenessSubjects what) {
        Liveness liveness = Liveness.of(body, what);
        LiveInterval[] all = new LiveInterval[what.count()];
        Arrays.setAll(all, _ -> new LiveInterval());
        int end = body.layout().stream().mapToInt(block -> block.steps().size()).sum();
        BitSet alive = new BitSet();
        for (BasicBlock block : body.layout().reversed()) {
            List<BlockStep> steps = block.steps();
            int first = end - steps.size();
            int start = 2 * first;
            int behind = 2 * end;
            alive.clear();
            liveness.atEnd(block, alive::set);
            alive.stream().forEach(one -> all[one].prepend(start, behind));
            for (int i = end - 1; i >= first; i--) {
                IrOperation operation = steps.get(i - first).operation();
                int at = 2 * i;
                int to = what.written(operation);
                if (to >= 0) {
                    all[to].begin(at + 1);
                }
                what.reads(operation, one -> all[one].prepend(start, at + 1));
            }
            end = first;
        }
        return all;
    }

    @Override
    public String toString() {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < ranges(); i++) {
            out.append('[').append(from(i)).append(',').append(to(i)).append(')');
        }
        return out.toString();
    }
}
