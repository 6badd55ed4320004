/**
 * What threads did with their time: states from the scheduler's events, and what follows from them.
 *
 * {@snippet :
 * StateTotals totals = new StateTotals();
 * ThreadStates states = new ThreadStates(threads, stacks, Window.ALL, List.of(totals));
 * Engine.run(recording, List.of(threads, states));
 * long blocked = totals.nanos(thread, ThreadState.BLOCKED);
 * }
 */
@org.jspecify.annotations.NullMarked
package sonde.analysis.sched;
