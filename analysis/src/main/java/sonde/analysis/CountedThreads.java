package sonde.analysis;

import java.util.Set;

/**
 * The threads whose rows are counted.
 *
 * @param all every thread but the recorder's
 * @param roots processes whose threads and descendants count; ignored with {@code all}
 * @param fromExec a root counts from its own first execve on (it is sonde's child before)
 * @param execTime when that was, if known; -1 takes the first exec seen of each root
 * @param recorder threads of the recorder: never count, but their CPU time is stated
 */
public record CountedThreads(
        boolean all, Set<Integer> roots, boolean fromExec, long execTime, Set<Integer> recorder) {
    public CountedThreads {
        roots = Set.copyOf(roots);
        recorder = Set.copyOf(recorder);
    }

    /** Every thread. */
    public static CountedThreads everything() {
        return new CountedThreads(true, Set.of(), false, -1, Set.of());
    }
}
