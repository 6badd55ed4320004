package sonde.exchange.heap;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sonde.event.heap.HeapStack;
import sonde.event.heap.HeapSums;
import sonde.event.result.Frame;

/** Sums by stack, equal stacks once; stacks beyond a bound share one without frames. */
final class StackTotals {
    private static final int MOST_STACKS = 1 << 20;

    private final Map<List<Frame>, HeapSums> sums = new LinkedHashMap<>();

    void add(List<Frame> frames, HeapSums one) {
        boolean room = sums.size() < MOST_STACKS || sums.containsKey(frames);
        sums.merge(room ? List.copyOf(frames) : List.of(), one, HeapSums::plus);
    }

    List<HeapStack> stacks() {
        List<HeapStack> stacks = new ArrayList<>();
        sums.forEach((frames, sum) -> stacks.add(new HeapStack(0, frames, sum)));
        return stacks;
    }

    HeapSums total() {
        return sums.values().stream().reduce(HeapSums::plus).orElse(HeapSums.NONE);
    }
}
