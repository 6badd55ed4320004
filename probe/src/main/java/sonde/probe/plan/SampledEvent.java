package sonde.probe.plan;

/**
 * An event of perf.data.
 *
 * @param name as shown and as in EVENT_DESC: {@code "cpu-clock"}, {@code "sched:sched_switch"}
 * @param type PERF_TYPE_*
 * @param config number within the type; -1 for a tracepoint, whose id is read when it is opened
 * @param rate period, or Hz when {@code frequency}
 * @param callChain whether the stack is taken
 * @param raw whether the tracepoint's fields are taken
 * @param side which side of the machine it counts on
 */
public record SampledEvent(
        String name,
        int type,
        long config,
        long rate,
        boolean frequency,
        boolean callChain,
        boolean raw,
        Side side) {
    /** Which privilege levels an event counts. */
    public enum Side {
        /** Both. */
        ALL,
        /** exclude_kernel: {@code :u}. */
        USER,
        /** exclude_user: {@code :k}. */
        KERNEL
    }
}
