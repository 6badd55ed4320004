package sonde.probe.plan;

/**
 * Kernel memory for rings.
 *
 * @param perfBytes data of a perf ring per CPU: a power of two of pages
 * @param lifeBytes data of a flight recorder's second perf ring per CPU, for mappings, names and
 *     the life of processes, which must not be overwritten; 0 when they share the first
 * @param taskBytes ring of the target's ftrace buffer per CPU
 * @param outsideBytes ring of the unfiltered ftrace buffer per CPU
 * @param limitBytes what all rings of all CPUs may take
 */
public record RingSizes(
        long perfBytes, long lifeBytes, long taskBytes, long outsideBytes, long limitBytes) {
    /** Most for one CPU, all rings together. */
    public static final long MAX_PER_CPU = 32L << 20;

    /** Most for the machine, unless asked for. */
    public static final long MAX_TOTAL = 512L << 20;

    private static final long PAGE = 4096;

    /**
     * Shares the limit out: 5 % of memory, at most {@link #MAX_TOTAL}, or what was asked for; of
     * each CPU's part a quarter to perf (rounded down to a power of two), a sixteenth to the
     * unfiltered buffer, the rest to the target's. A source that is not used gets nothing.
     *
     * @param askedBytes limit asked for, 0 for the default
     * @param perfCapBytes most for one perf ring (perf_event_mlock_kb of an unprivileged user)
     */
    static RingSizes share(
            MachineSize machine, long askedBytes, PresentRings sources, long perfCapBytes) {
        long limit = askedBytes > 0 ? askedBytes : Math.min(machine.memoryBytes() / 20, MAX_TOTAL);
        long each = Math.min(limit / machine.cpus(), MAX_PER_CPU);
        if (askedBytes > 0) {
            each = limit / machine.cpus();
        }
        long outside = sources.outside() ? pages(Math.min(each / 16, 2L << 20)) : 0;
        long perf = 0;
        long life = 0;
        if (sources.perf()) {
            // One page more is the control page; the target's ring, if there is one, gives it.
            long share = Math.min(sources.task() ? each / 4 : each - outside - PAGE, perfCapBytes);
            perf = Math.min(Long.highestOneBit(Math.max(share, PAGE)), 8L << 20);
            if (sources.flight()) {
                perf = Math.max(perf / 2, PAGE);
                life = Math.max(perf / 2, PAGE);
            }
        }
        long task = sources.task() ? pages(each - outside - mapped(perf) - mapped(life)) : 0;
        return new RingSizes(perf, life, task, outside, limit);
    }

    /** With its control page. */
    private static long mapped(long dataBytes) {
        return dataBytes == 0 ? 0 : dataBytes + PAGE;
    }

    private static long pages(long sizeBytes) {
        // Two sub-buffers are the least the kernel makes.
        return Math.max(sizeBytes & -PAGE, 2 * PAGE);
    }

    /** Bytes of one CPU, control pages included. */
    public long perCpuBytes() {
        return mapped(perfBytes) + mapped(lifeBytes) + taskBytes + outsideBytes;
    }

    /** Which rings there are; {@code flight} when perf's keep the end. */
    record PresentRings(boolean perf, boolean flight, boolean task, boolean outside) {}
}
