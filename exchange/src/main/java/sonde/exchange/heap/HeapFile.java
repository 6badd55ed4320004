package sonde.exchange.heap;

import java.util.List;
import sonde.event.heap.HeapProfile;

/**
 * What a file says.
 *
 * @param suppressions patterns of functions whose leaks it leaves out, as LSan has them
 * @param detailed times of which it has a tree, in the unit of the curve; empty where it has all
 * @param cut whether the file ends before the program did
 */
public record HeapFile(
        HeapProfile profile, List<String> suppressions, List<Long> detailed, boolean cut) {
    /** A whole file. */
    public HeapFile(HeapProfile profile, List<String> suppressions, List<Long> detailed) {
        this(profile, suppressions, detailed, false);
    }

    /** With another profile. */
    public HeapFile with(HeapProfile other) {
        return new HeapFile(other, suppressions, detailed, cut);
    }
}
