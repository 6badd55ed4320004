/**
 * How events are processed: operators and the engine that runs them.
 *
 * <p>An {@link sonde.analysis.Operator} says which types it wants and in which order; the {@link
 * sonde.analysis.Engine} reads every lane of a recording once and hands out rows in runs:
 *
 * {@snippet :
 * ThreadTable threads = new ThreadTable(CountedThreads.everything());
 * SyscallDurations syscalls = new SyscallDurations(threads, TimeWindow.ALL);
 * Engine.run(recording, List.of(threads, syscalls));
 * syscalls.totals().forEach(call -> out.accept(call.number(), call.latency().quantile(0.99)));
 * }
 */
package sonde.analysis;
