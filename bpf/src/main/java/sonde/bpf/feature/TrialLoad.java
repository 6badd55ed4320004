package sonde.bpf.feature;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;
import sonde.bpf.call.BpfAttr;
import sonde.sys.Bpf;
import sonde.sys.Errno;
import sonde.sys.Fd;

/**
 * Loads a program only to see what the kernel says.
 *
 * @param errno 0 when it was taken
 * @param log what the verifier wrote
 */
record TrialLoad(int errno, String log) {
    // Words of instructions: op | dst << 8 | src << 12 | off << 16 | imm << 32.
    static final long R0_ZERO = 0xb7;
    static final long EXIT = 0x95;

    private static final int LOG_BYTES = 16 << 10;
    private static final int ATTEMPTS = 5;

    /** The fields of union bpf_attr in which trials differ. */
    record Kind(int type, int expected, int flags, int attachBtfId) {}

    static long call(int helper) {
        return 0x85 | (long) helper << 32;
    }

    static long callKernel(int btfId) {
        return 0x85 | 2 << 12 | (long) btfId << 32;
    }

    static TrialLoad load(Kind kind, long... words) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment log = arena.allocate(LOG_BYTES, 8);
            MemorySegment attr = BpfAttr.allocate(arena);
            attr.set(JAVA_INT, 0, kind.type());
            attr.set(JAVA_INT, 4, words.length);
            attr.set(JAVA_LONG, 8, arena.allocateFrom(JAVA_LONG, words).address());
            attr.set(JAVA_LONG, 16, arena.allocateFrom("GPL").address());
            attr.set(JAVA_INT, 24, 1);
            attr.set(JAVA_INT, 28, LOG_BYTES);
            attr.set(JAVA_LONG, 32, log.address());
            attr.set(JAVA_INT, 44, kind.flags());
            attr.set(JAVA_INT, 68, kind.expected());
            attr.set(JAVA_INT, 108, kind.attachBtfId());
            long result = load(attr);
            if (result == -Errno.ENOSPC) {
                // The log does not fit: what it would end with does not matter then.
                attr.asSlice(24, 16).fill((byte) 0);
                result = load(attr);
            }
            if (result >= 0) {
                Fd.discard((int) result);
            }
            String text = log.getString(0, StandardCharsets.ISO_8859_1);
            return new TrialLoad(result < 0 ? (int) -result : 0, text);
        }
    }

    private static long load(MemorySegment attr) {
        long result;
        int attempt = 0;
        do {
            result = Bpf.tryCall(BpfAttr.PROG_LOAD, attr);
        } while (result == -Errno.EAGAIN && ++attempt < ATTEMPTS);
        return result;
    }

    boolean taken() {
        return errno == 0;
    }

    /** Refused without a word: by policy, if it was not for the program. */
    boolean isPolicy() {
        return errno == Errno.EPERM && log.isBlank();
    }

    /** The last line of the log that is no statistics; else the errno. */
    String words() {
        List<String> lines =
                log.lines().filter(l -> !l.isBlank() && !l.startsWith("processed ")).toList();
        return lines.isEmpty() ? Errno.describe(errno) : lines.getLast().strip();
    }
}
