/**
 * Analyses system calls: counts, durations and errors.
 *
 * {@snippet :
 * Syscalls calls = new Syscalls(threads, Window.ALL);
 * Engine.run(recording, List.of(threads, calls));
 * calls.forEach((thread, call) -> out.accept(call.number(), call.latency().quantile(0.99)));
 * }
 */
@org.jspecify.annotations.NullMarked
package sonde.analysis.syscall;
