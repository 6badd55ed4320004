package sonde.store.derive;

/**
 * How the numbers of one trace become those of the tables.
 *
 * @param trace its {@code trace_id}
 * @param shift to be added to its times
 * @param firstUtid of its idle thread; its thread n is the one n + 1 later
 * @param firstCallsite of its call chains
 */
record Target(int trace, long shift, int firstUtid, int firstCallsite) {
    /** Rows of traces do not share ids: the trace is in the upper bits. */
    long id(long number) {
        return (long) trace << 48 | number;
    }

    /** The utid of a thread by number; of the idle task for -1. */
    int utid(int thread) {
        return firstUtid + 1 + thread;
    }

    /** The callsite of a node, -1 for none. */
    int callsite(int node) {
        return node < 0 ? -1 : firstCallsite + node;
    }
}
