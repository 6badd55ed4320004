/**
 * System calls by number through libc's {@code syscall}, each as a Java method that returns or
 * throws {@link sonde.sys.SyscallException}.
 *
 * {@snippet :
 * try (Arena arena = Arena.ofConfined()) {
 *     int fd = Files.open(arena.allocateFrom("/proc/self/stat"), O_RDONLY);
 * }
 * }
 */
package sonde.sys;
