/**
 * System calls as text, exactly as strace prints them: {@code openat(AT_FDCWD, "/etc/passwd",
 * O_RDONLY|O_CLOEXEC) = 3}.
 *
 * <p>{@link sonde.recording.syscall.CallTable} is data: one line a call in {@code calls.txt} says
 * what each argument means, and the constants come from the kernel's headers. From the same line
 * come the text ({@link sonde.recording.syscall.CallLines}) and what must be captured in the kernel
 * ({@link sonde.recording.syscall.CaptureOp}). A {@link sonde.recording.syscall.CallRecord} is a
 * view on captured bytes; the decoder does not know who captured them.
 */
package sonde.recording.syscall;
