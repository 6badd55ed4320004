package sonde.store.derive;

import sonde.analysis.sched.ThreadState;

/**
 * What to say of followed threads without a single row.
 *
 * @param from when the recording began
 * @param to when it ended
 * @param as {@link ThreadState#SLEEPING} where their switches would have been recorded
 */
public record SilentThreads(long from, long to, ThreadState as) {}
