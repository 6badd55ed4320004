package sonde.event.heap;

import java.util.List;

/**
 * A heap over some time.
 *
 * @param command its words, as a shell would show them; empty when not known
 * @param source how it was observed, for a reader: {@code "heaptrack"}, {@code "attached"}
 * @param nanos how long it was observed, {@link HeapSums#UNKNOWN} where a file does not say
 * @param timeUnit of {@link HeapMoment#nanos}: {@code "ns"}, or massif's {@code "i"} and {@code
 *     "B"}
 * @param totals of all stacks; its peak is that of the whole heap
 * @param peakNanos when the heap had most bytes; {@link HeapSums#UNKNOWN} where not known
 * @param peakResident most resident bytes; {@link HeapSums#UNKNOWN} where not known
 * @param stacks in no order
 * @param curve by time
 * @param sizes from small to large; empty where not known
 * @param faults wrong calls of free
 * @param notes what a reader must know to trust the numbers, one sentence each
 */
public record HeapProfile(
        String command,
        String source,
        long nanos,
        String timeUnit,
        HeapSums totals,
        long peakNanos,
        long peakResident,
        List<HeapStack> stacks,
        List<HeapMoment> curve,
        List<HeapSize> sizes,
        List<HeapFault> faults,
        List<String> notes) {}
