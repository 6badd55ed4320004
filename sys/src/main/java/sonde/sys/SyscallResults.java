package sonde.sys;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/** Results of system calls as values or {@link SyscallException}, and C strings. */
final class SyscallResults {
    private SyscallResults() {}

    static long check(String call, int fd, long result) throws SyscallException {
        if (result < 0) {
            throw new SyscallException(call, "fd " + fd, (int) -result);
        }
        return result;
    }

    static long check(String call, String object, long result) throws SyscallException {
        if (result < 0) {
            throw new SyscallException(call, object, (int) -result);
        }
        return result;
    }

    static long check(String call, byte[] path, long result) throws SyscallException {
        if (result < 0) {
            throw new SyscallException(call, text(path), (int) -result);
        }
        return result;
    }

    /** A NUL-terminated copy; a NUL within would cut the name silently, so it is refused. */
    static MemorySegment cString(Arena arena, byte[] bytes) {
        for (byte b : bytes) {
            if (b == 0) {
                throw new IllegalArgumentException("NUL in " + text(bytes));
            }
        }
        MemorySegment string = arena.allocate(bytes.length + 1L);
        MemorySegment.copy(bytes, 0, string, JAVA_BYTE, 0, bytes.length);
        return string;
    }

    static String text(byte[] path) {
        return new String(path, StandardCharsets.UTF_8);
    }
}
