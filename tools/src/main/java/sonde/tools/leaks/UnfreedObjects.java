package sonde.tools.leaks;

import java.util.List;
import java.util.Set;
import sonde.event.result.Frame;
import sonde.probe.kmem.AllocationKind;

/**
 * Allocations of one stack that were not freed.
 *
 * @param verdict whether they are leaks
 * @param reason why they are none, or why that is not sure; empty for leaks
 * @param cache name of the slab cache; empty for other memory
 * @param requested bytes that were asked for, of all objects
 * @param used bytes that they take
 * @param least bytes of the smallest object
 * @param most bytes of the largest object
 * @param gfp flags of the first one
 * @param pids that allocated
 * @param frames the innermost first, with the allocator's
 */
record UnfreedObjects(
        LeakVerdict verdict,
        String reason,
        AllocationKind kind,
        String cache,
        long objects,
        long requested,
        long used,
        long least,
        long most,
        int gfp,
        Set<Integer> pids,
        List<Frame> frames) {
    /** What is said of a stack. */
    enum LeakVerdict {
        LEAK,
        /** The slabs do not tell whether the objects were freed. */
        UNCERTAIN,
        /** Memory that the kernel keeps on purpose. */
        KEPT
    }

    /** The frames without those of the allocator. */
    List<Frame> callers() {
        return frames.subList(LeakStacks.allocators(frames), frames.size());
    }

    /** The function that asked for the memory, with its line. */
    String culprit() {
        List<Frame> callers = callers();
        if (callers.isEmpty()) {
            return "unknown code";
        }
        Frame first = callers.getFirst();
        return first.name() + (first.line() > 0 ? " at " + first.place() : "");
    }

    /** {@code "3 objects of 128 bytes (kmalloc-128)"}. */
    String amount() {
        String unit =
                switch (kind) {
                    case KMALLOC, CACHE -> "object";
                    case PAGES -> "page block";
                    case PER_CPU -> "per-CPU object";
                    case VMALLOC -> "vmalloc area";
                };
        String size = least == most ? least + " bytes" : least + " to " + most + " bytes";
        return "%d %s%s of %s%s"
                .formatted(
                        objects,
                        unit,
                        objects == 1 ? "" : "s",
                        size,
                        cache.isEmpty() ? "" : " (" + cache + ")");
    }
}
