package sonde.store.derive;

/**
 * How the numbers of one trace become those of the tables.
 *
 * @param trace its {@code trace_id}
 * @param shift to be added to its times
 * @param firstUtid of its idle thread; its thread n is the one n + 1 later
 * @param firstCallsite of its call chains
 * @param firstCaller of the callers of inlined calls, which no row but those of chains names
 */
record TraceNumbers(int trace, long shift, int firstUtid, int firstCallsite, int firstCaller) {
    /** Rows of traces do not share ids: the trace is in the upper bits. */
    long id(long number) {
        return (long) trace << 48 | number;
    }

    /** The utid of a thread by number; of the idle task for -1. */
    int utid(int thread) {
        return firstUtid + 1 + thread;
    }

    /** The callsite of a caller of inlined calls: below those of nodes and -1. */
    int caller(int number) {
        return -2 - firstCaller - number;
    }

    /** The number of a frame: of a chain's rows no two need more. */
    int frame(int number) {
        return firstCallsite + firstCaller + number;
    }

    /** The callsite of a node, -1 for none. */
    int callsite(int node) {
        return node < 0 ? -1 : firstCallsite + node;
    }
}
