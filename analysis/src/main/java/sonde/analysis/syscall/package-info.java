/**
 * Analyses system calls: counts, durations and errors.
 *
 * {@snippet :
 * SyscallDurations calls = new SyscallDurations(threads, TimeWindow.ALL);
 * Engine.run(recording, List.of(threads, calls));
 * calls.forEach((thread, call) -> out.accept(call.number(), call.latency().quantile(0.99)));
 * }
 */
@org.jspecify.annotations.NullMarked
package sonde.analysis.syscall;
