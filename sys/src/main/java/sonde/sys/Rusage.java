package sonde.sys;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/**
 * What a process and its waited-for children used (struct rusage, 144 bytes on 64-bit).
 *
 * @param userMicros CPU time in user mode, microseconds
 * @param systemMicros CPU time in the kernel, microseconds
 * @param maxRssKib greatest resident set, KiB
 * @param readBlocks512 blocks read from devices, 512 bytes each
 */
public record Rusage(
        long userMicros,
        long systemMicros,
        long maxRssKib,
        long minorFaults,
        long majorFaults,
        long readBlocks512,
        long writtenBlocks512,
        long voluntarySwitches,
        long involuntarySwitches) {
    /** {@code sizeof(struct rusage)}. */
    static final long SIZE = 144;

    static Rusage of(MemorySegment rusage) {
        return new Rusage(
                rusage.get(JAVA_LONG, 0) * 1_000_000 + rusage.get(JAVA_LONG, 8),
                rusage.get(JAVA_LONG, 16) * 1_000_000 + rusage.get(JAVA_LONG, 24),
                rusage.get(JAVA_LONG, 32),
                rusage.get(JAVA_LONG, 64),
                rusage.get(JAVA_LONG, 72),
                rusage.get(JAVA_LONG, 88),
                rusage.get(JAVA_LONG, 96),
                rusage.get(JAVA_LONG, 128),
                rusage.get(JAVA_LONG, 136));
    }
}
