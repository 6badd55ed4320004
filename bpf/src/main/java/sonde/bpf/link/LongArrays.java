package sonde.bpf.link;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Arrays of u64 for the kernel. */
final class LongArrays {
    private LongArrays() {}

    /** The address of a copy; 0 for none. */
    static long copy(Arena arena, List<Long> values) {
        if (values.isEmpty()) {
            return 0;
        }
        MemorySegment copy = arena.allocate(JAVA_LONG, values.size());
        for (int i = 0; i < values.size(); i++) {
            copy.setAtIndex(JAVA_LONG, i, values.get(i));
        }
        return copy.address();
    }
}
