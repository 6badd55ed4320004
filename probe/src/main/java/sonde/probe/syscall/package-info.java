/**
 * Captures the system calls of processes: programs on the raw tracepoints of entry and exit follow
 * a plan for each call and write {@link sonde.recording.syscall.CallRecord}s into a ring buffer; a
 * thread copies them out, and {@link sonde.probe.syscall.CallStream} hands them over in the order
 * of their times. The traced processes are not stopped.
 */
@org.jspecify.annotations.NullMarked
package sonde.probe.syscall;
