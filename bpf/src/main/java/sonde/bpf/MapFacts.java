package sonde.bpf;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import sonde.bpf.call.KernelObject;
import sonde.sys.FileCalls;
import sonde.sys.SyscallException;

/**
 * struct bpf_map_info, and of /proc/self/fdinfo what it lacks.
 *
 * @param type enum bpf_map_type
 * @param valueBytes of one value, also for per-CPU kinds
 * @param btfId of the BTF that has the types of key and value; 0 for none
 * @param extra map_extra
 * @param memoryBytes taken in the kernel; -1 when it does not say
 * @param frozen whether user space may no longer write
 * @param ownerType enum bpf_prog_type of the programs in a program array; -1 without any
 * @param ownerJited whether those are machine code
 */
public record MapFacts(
        int id,
        int type,
        String name,
        int keyBytes,
        int valueBytes,
        int maxEntries,
        int flags,
        int btfId,
        int keyType,
        int valueType,
        long extra,
        long memoryBytes,
        boolean frozen,
        int ownerType,
        boolean ownerJited) {
    private static final int SIZE = 88;
    private static final int SMALL_FILE = 8192;

    static MapFacts of(int fd) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment facts = arena.allocate(SIZE, 8);
            KernelObject.info(fd, facts, "a map");
            FdFacts more = FdFacts.of(fd);
            return new MapFacts(
                    facts.get(JAVA_INT, 4),
                    facts.get(JAVA_INT, 0),
                    KernelObject.text(facts, 24, 16),
                    facts.get(JAVA_INT, 8),
                    facts.get(JAVA_INT, 12),
                    facts.get(JAVA_INT, 16),
                    facts.get(JAVA_INT, 20),
                    facts.get(JAVA_INT, 64),
                    facts.get(JAVA_INT, 68),
                    facts.get(JAVA_INT, 72),
                    facts.get(JAVA_LONG, 80),
                    more.number("memlock", -1),
                    more.number("frozen", 0) != 0,
                    (int) more.number("owner_prog_type", -1),
                    more.number("owner_jited", 0) != 0);
        }
    }

    /** Lines {@code "key:\tvalue"} of a descriptor's fdinfo. */
    record FdFacts(String text) {
        static FdFacts of(int fd) {
            try {
                byte[] bytes = FileCalls.readAll("/proc/self/fdinfo/" + fd, SMALL_FILE);
                return new FdFacts(new String(bytes, StandardCharsets.UTF_8));
            } catch (SyscallException e) {
                return new FdFacts("");
            }
        }

        long number(String key, long otherwise) {
            for (String line : text.lines().toList()) {
                if (line.startsWith(key + ":")) {
                    try {
                        return Long.parseLong(line.substring(key.length() + 1).strip());
                    } catch (NumberFormatException e) {
                        return otherwise;
                    }
                }
            }
            return otherwise;
        }
    }
}
