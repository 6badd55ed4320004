/**
 * Derives the states of threads from the scheduler's events, and sums their time by state.
 *
 * {@snippet :
 * StateTotals totals = new StateTotals();
 * ThreadStates states = new ThreadStates(threads, stacks, TimeWindow.ALL, List.of(totals));
 * Engine.run(recording, List.of(threads, states));
 * long blocked = totals.nanos(thread, ThreadState.BLOCKED);
 * }
 */
@org.jspecify.annotations.NullMarked
package sonde.analysis.sched;
