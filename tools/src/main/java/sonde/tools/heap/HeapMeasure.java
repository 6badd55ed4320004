package sonde.tools.heap;

import java.util.List;
import java.util.function.ToLongFunction;
import sonde.event.heap.HeapStack;
import sonde.event.heap.HeapSums;
import sonde.event.result.Unit;

/** What stacks are ranked by, and what is shown beside it. */
enum HeapMeasure {
    PEAK("peak", Unit.BYTES, HeapSums::peakBytes, "blocks", Unit.COUNT, HeapSums::peakBlocks),
    LEAKED("leaked", Unit.BYTES, HeapSums::liveBytes, "blocks", Unit.COUNT, HeapSums::liveBlocks),
    ALLOCATIONS(
            "allocations", Unit.COUNT, HeapSums::calls, "allocated", Unit.BYTES, HeapSums::bytes),
    TEMPORARY(
            "temporary",
            Unit.COUNT,
            HeapSums::temporary,
            "of allocations",
            Unit.COUNT,
            HeapSums::calls),
    ALLOCATED("allocated", Unit.BYTES, HeapSums::bytes, "allocations", Unit.COUNT, HeapSums::calls);

    /** The section of a report, and its option without dashes. */
    final String section;

    final Unit unit;
    final ToLongFunction<HeapSums> value;
    final String besideName;
    final Unit besideUnit;
    final ToLongFunction<HeapSums> beside;

    HeapMeasure(
            String section,
            Unit unit,
            ToLongFunction<HeapSums> value,
            String besideName,
            Unit besideUnit,
            ToLongFunction<HeapSums> beside) {
        this.section = section;
        this.unit = unit;
        this.value = value;
        this.besideName = besideName;
        this.besideUnit = besideUnit;
        this.beside = beside;
    }

    long of(HeapSums sums) {
        return value.applyAsLong(sums);
    }

    /** Calls or blocks that belong to the value. */
    long count(HeapSums sums) {
        return unit == Unit.COUNT ? of(sums) : beside.applyAsLong(sums);
    }

    /** Whether a source has this number. */
    boolean isKnown(HeapSums sums) {
        return of(sums) != HeapSums.UNKNOWN;
    }

    boolean isKnown(List<HeapStack> stacks) {
        return stacks.stream().allMatch(stack -> isKnown(stack.sums()));
    }
}
