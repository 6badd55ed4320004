package sonde.bpf;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Function;
import sonde.bpf.call.KernelObject;
import sonde.sys.SyscallException;

/**
 * struct bpf_prog_info, and of /proc/self/fdinfo what it lacks.
 *
 * @param type enum bpf_prog_type
 * @param tag hash of the instructions, 16 hexadecimal digits
 * @param translatedBytes instructions after the verifier; 0 when they may not be seen
 * @param jitedBytes machine code; 0 when they may not be seen or it is interpreted
 * @param loadedNanos since boot (CLOCK_BOOTTIME)
 * @param uid who loaded it
 * @param btfId of its types, 0 for none
 * @param attachBtfId the function or type it was loaded for
 * @param runNanos and runs, counted while {@link RunStatistics} is open
 * @param missed hits at which it was not run because a program was running on the CPU
 * @param verifiedInstructions that the verifier walked through; since Linux 5.16
 * @param memoryBytes taken in the kernel; -1 when it does not say
 */
public record ProgramFacts(
        int id,
        int type,
        String name,
        String tag,
        boolean gplCompatible,
        int translatedBytes,
        int jitedBytes,
        long loadedNanos,
        int uid,
        List<Integer> mapIds,
        int btfId,
        int attachBtfObjectId,
        int attachBtfId,
        long runNanos,
        long runCount,
        long missed,
        int verifiedInstructions,
        long memoryBytes) {
    private static final int SIZE = 232;
    private static final int MOST_MAPS = 64;

    /** More than any program has (MAX_BPF_COMPLEXITY 1 M instructions), so a bound. */
    private static final int MOST_BYTES = 64 << 20;

    static ProgramFacts of(int fd) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment facts = arena.allocate(SIZE, 8);
            // nr_map_ids, map_ids: the kernel fills as many as there is room for.
            MemorySegment maps = arena.allocate(JAVA_INT, MOST_MAPS);
            facts.set(JAVA_INT, 52, MOST_MAPS);
            facts.set(JAVA_LONG, 56, maps.address());
            KernelObject.info(fd, facts, "a program");
            List<Integer> mapIds = new ArrayList<>();
            for (int i = 0; i < Math.clamp(facts.get(JAVA_INT, 52), 0, MOST_MAPS); i++) {
                mapIds.add(maps.getAtIndex(JAVA_INT, i));
            }
            return new ProgramFacts(
                    facts.get(JAVA_INT, 4),
                    facts.get(JAVA_INT, 0),
                    KernelObject.text(facts, 64, 16),
                    HexFormat.of().formatHex(facts.asSlice(8, 8).toArray(JAVA_BYTE)),
                    (facts.get(JAVA_INT, 84) & 1) != 0,
                    facts.get(JAVA_INT, 20),
                    facts.get(JAVA_INT, 16),
                    facts.get(JAVA_LONG, 40),
                    facts.get(JAVA_INT, 48),
                    List.copyOf(mapIds),
                    facts.get(JAVA_INT, 128),
                    facts.get(JAVA_INT, 220),
                    facts.get(JAVA_INT, 224),
                    facts.get(JAVA_LONG, 192),
                    facts.get(JAVA_LONG, 200),
                    facts.get(JAVA_LONG, 208),
                    facts.get(JAVA_INT, 216),
                    MapFacts.FdFacts.of(fd).number("memlock", -1));
        }
    }

    /** The instructions as the verifier has rewritten them, 8 bytes each. */
    public static long[] translated(Program program) throws SyscallException {
        return array(program, 20, 32, 8, segment -> segment.toArray(JAVA_LONG));
    }

    /** The machine code, all functions one behind the other. */
    public static byte[] jited(Program program) throws SyscallException {
        return array(program, 16, 24, 1, segment -> segment.toArray(JAVA_BYTE));
    }

    /** struct bpf_line_info: instruction, file name, line text, line &lt;&lt; 10 | column. */
    public static int[] lineRecords(Program program) throws SyscallException {
        return counted(program, 148, 152, 172);
    }

    /** struct bpf_func_info: instruction, type id. */
    public static int[] functionRecords(Program program) throws SyscallException {
        return counted(program, 144, 136, 132);
    }

    /** Tags of all functions, the main program's first, 16 hexadecimal digits each. */
    public static List<String> functionTags(Program program) throws SyscallException {
        List<String> tags = new ArrayList<>();
        for (long tag : fixed(program, 180, 184, 8)) {
            tags.add("%016x".formatted(Long.reverseBytes(tag)));
        }
        return tags;
    }

    /** Bytes of machine code of each function; empty when they may not be seen. */
    public static long[] jitedLengths(Program program) throws SyscallException {
        return fixed(program, 108, 120, 4);
    }

    /** Where the machine code of each function lies; 0 when that may not be seen. */
    public static long[] jitedAddresses(Program program) throws SyscallException {
        return fixed(program, 104, 112, 8);
    }

    /** Where the machine code of each record of {@link #lineRecords} begins. */
    public static long[] jitedLines(Program program) throws SyscallException {
        return fixed(program, 168, 160, 8);
    }

    /** Asks for the number first, then for that many numbers of 4 or 8 bytes. */
    private static long[] fixed(Program program, int countAt, int pointerAt, int bytes)
            throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment facts = arena.allocate(SIZE, 8);
            KernelObject.info(program.fd(), facts, "program " + program.name());
            int count = Math.clamp(facts.get(JAVA_INT, countAt), 0, MOST_BYTES / 16);
            MemorySegment into = arena.allocate(Math.max(8, (long) count * bytes), 8);
            int record = countAt == 168 ? facts.get(JAVA_INT, 176) : 0;
            facts.fill((byte) 0);
            facts.set(JAVA_INT, countAt, count);
            if (countAt == 168) {
                facts.set(JAVA_INT, 176, record); // jited_line_info_rec_size
                count = record == bytes ? count : 0;
            }
            facts.set(JAVA_LONG, pointerAt, into.address());
            KernelObject.info(program.fd(), facts, "program " + program.name());
            long[] all = new long[count];
            for (int i = 0; i < count; i++) {
                all[i] =
                        bytes == 4
                                ? into.getAtIndex(JAVA_INT, i) & 0xffff_ffffL
                                : into.getAtIndex(JAVA_LONG, i);
            }
            return all;
        }
    }

    /** Asks for the size (in bytes) first, then for that much. */
    private static <T> T array(
            Program program, int sizeAt, int pointerAt, int align, Function<MemorySegment, T> of)
            throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment facts = arena.allocate(SIZE, 8);
            KernelObject.info(program.fd(), facts, "program " + program.name());
            int size = Math.clamp(facts.get(JAVA_INT, sizeAt), 0, MOST_BYTES) / align * align;
            MemorySegment into = arena.allocate(Math.max(8, size), 8);
            facts.fill((byte) 0);
            facts.set(JAVA_INT, sizeAt, size);
            facts.set(JAVA_LONG, pointerAt, into.address());
            KernelObject.info(program.fd(), facts, "program " + program.name());
            boolean denied = facts.get(JAVA_LONG, pointerAt) == 0;
            return of.apply(into.asSlice(0, denied ? 0 : size));
        }
    }

    /** Asks for number and size of records first; the words of all of them. */
    private static int[] counted(Program program, int countAt, int pointerAt, int recordAt)
            throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment facts = arena.allocate(SIZE, 8);
            KernelObject.info(program.fd(), facts, "program " + program.name());
            int count = Math.clamp(facts.get(JAVA_INT, countAt), 0, MOST_BYTES / 16);
            int record = Math.clamp(facts.get(JAVA_INT, recordAt), 0, 64) & ~3;
            MemorySegment into = arena.allocate(Math.max(8, (long) count * record), 8);
            facts.fill((byte) 0);
            facts.set(JAVA_INT, countAt, count);
            facts.set(JAVA_INT, recordAt, record);
            facts.set(JAVA_LONG, pointerAt, into.address());
            KernelObject.info(program.fd(), facts, "program " + program.name());
            return into.asSlice(0, (long) count * record).toArray(JAVA_INT);
        }
    }
}
