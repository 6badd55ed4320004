package sonde.sys;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;

/** What the machine is: pages, CPUs, memory, kernel. */
public final class MachineFacts {
    private static final int SYSINFO = SyscallNames.number("sysinfo");
    private static final int UNAME = SyscallNames.number("uname");
    private static final int MAX_CPUS = 65536;
    private static final long AT_PAGESZ = 6;
    private static final long AT_CLKTCK = 17;
    private static final int PAGE = auxiliary(AT_PAGESZ, 4096);
    private static final int TICKS = auxiliary(AT_CLKTCK, 100);

    private MachineFacts() {}

    /** Strings of uname(2). */
    public record Uname(
            String system, String node, String release, String version, String machine) {}

    /** Bytes in a page. */
    public static int pageBytes() {
        return PAGE;
    }

    /** Units of time in /proc/PID/stat, per second (USER_HZ). */
    public static int ticksPerSecond() {
        return TICKS;
    }

    /** The CPUs that run now. */
    public static BitSet onlineCpus() throws SyscallException {
        return cpus("/sys/devices/system/cpu/online");
    }

    /** The CPUs that may ever run; the kernel sizes per-CPU tables by these. */
    public static BitSet possibleCpus() throws SyscallException {
        return cpus("/sys/devices/system/cpu/possible");
    }

    /** RAM in bytes, from sysinfo(2): totalram at 32, mem_unit at 104. */
    public static long ramBytes() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment info = arena.allocate(128, 8);
            NativeSyscall.syscall(SYSINFO, info.address(), 0, 0);
            return info.get(JAVA_LONG, 32) * info.get(JAVA_INT, 104);
        }
    }

    /** The kernel's own strings. */
    public static Uname uname() {
        try (Arena arena = Arena.ofConfined()) {
            // struct new_utsname: six arrays of 65 bytes.
            MemorySegment names = arena.allocate(6 * 65L);
            NativeSyscall.syscall(UNAME, names.address(), 0, 0);
            return new Uname(
                    names.getString(0),
                    names.getString(65),
                    names.getString(130),
                    names.getString(195),
                    names.getString(260));
        }
    }

    private static BitSet cpus(String path) throws SyscallException {
        return parseCpus(new String(FileCalls.readAll(path, 65536), StandardCharsets.US_ASCII));
    }

    /**
     * Reads a kernel CPU list, {@code "0-3,8"}.
     *
     * @throws IllegalArgumentException when it is none
     */
    public static BitSet parseCpus(String list) {
        BitSet cpus = new BitSet();
        for (String range : list.strip().split(",", -1)) {
            if (range.isEmpty()) {
                continue;
            }
            int dash = range.indexOf('-');
            int first = Integer.parseInt(dash < 0 ? range : range.substring(0, dash));
            int last = dash < 0 ? first : Integer.parseInt(range.substring(dash + 1));
            if (first < 0 || last < first || last >= MAX_CPUS) {
                throw new IllegalArgumentException("CPU list " + list.strip());
            }
            cpus.set(first, last + 1);
        }
        return cpus;
    }

    /** One value of the ELF auxiliary vector: pairs of u64, ended by key 0. */
    private static int auxiliary(long key, int otherwise) {
        try {
            byte[] vector = FileCalls.readAll("/proc/self/auxv", 4096);
            MemorySegment words = MemorySegment.ofArray(vector);
            for (long at = 0; at + 16 <= vector.length; at += 16) {
                if (words.get(JAVA_LONG_UNALIGNED, at) == key) {
                    return (int) words.get(JAVA_LONG_UNALIGNED, at + 8);
                }
            }
        } catch (SyscallException e) {
            return otherwise;
        }
        return otherwise;
    }
}
