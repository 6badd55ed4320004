/**
 * System calls by number through libc's {@code syscall}, each as a Java method that returns or
 * throws {@link sonde.sys.SyscallException}.
 *
 * {@snippet :
 * try (Arena arena = Arena.ofConfined()) {
 *     int fd = FileCalls.open("/proc/self/stat", O_RDONLY);
 *     long count = Fd.read(fd, arena.allocate(4096));
 *     Fd.close(fd);
 * }
 * }
 */
package sonde.sys;
