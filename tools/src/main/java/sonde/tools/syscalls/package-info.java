/**
 * {@code sonde syscalls}: the system calls of a command or of processes as lines, as counts, or as
 * JSON. {@link sonde.tools.syscalls.CallSelection} reads strace's expressions; {@link
 * sonde.tools.syscalls.SyscallsRun} starts the command and writes while it runs.
 */
@org.jspecify.annotations.NullMarked
package sonde.tools.syscalls;
