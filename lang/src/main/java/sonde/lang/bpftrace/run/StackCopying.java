package sonde.lang.bpftrace.run;

import java.util.Set;

/**
 * The processes whose stacks are copied, to be unwound by call frame information.
 *
 * @param all of every process that a probe hits
 * @param pids of these; with {@code all} without meaning
 */
public record StackCopying(boolean all, Set<Integer> pids) {
    /** Nobody's. */
    public static final StackCopying NONE = new StackCopying(false, Set.of());

    /** Everybody's. */
    public static final StackCopying ALL = new StackCopying(true, Set.of());

    /** Whether any are. */
    boolean isAny() {
        return all || !pids.isEmpty();
    }
}
