package sonde.probe.plan;

/**
 * Kernel memory for rings.
 *
 * @param perfBytes data of a perf ring per CPU: a power of two of pages
 * @param taskBytes ring of the target's ftrace buffer per CPU
 * @param outsideBytes ring of the unfiltered ftrace buffer per CPU
 * @param limitBytes what all rings of all CPUs may take
 */
public record RingSizes(long perfBytes, long taskBytes, long outsideBytes, long limitBytes) {
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
            MachineSize machine, long askedBytes, Sources sources, long perfCapBytes) {
        long limit = askedBytes > 0 ? askedBytes : Math.min(machine.memoryBytes() / 20, MAX_TOTAL);
        long each = Math.min(limit / machine.cpus(), MAX_PER_CPU);
        if (askedBytes > 0) {
            each = limit / machine.cpus();
        }
        long outside = sources.outside() ? pages(Math.min(each / 16, 2L << 20)) : 0;
        long perf = 0;
        if (sources.perf()) {
            // One page more is the control page; the target's ring, if there is one, gives it.
            long share = sources.task() ? each / 4 : each - outside - PAGE;
            perf = Long.highestOneBit(Math.max(Math.min(share, perfCapBytes), PAGE));
            perf = Math.min(perf, 8L << 20);
        }
        long task = sources.task() ? pages(each - outside - (perf == 0 ? 0 : perf + PAGE)) : 0;
        return new RingSizes(perf, task, outside, limit);
    }

    private static long pages(long sizeBytes) {
        // Two sub-buffers are the least the kernel makes.
        return Math.max(sizeBytes & -PAGE, 2 * PAGE);
    }

    /** Bytes of one CPU, control pages included. */
    public long perCpuBytes() {
        return (perfBytes == 0 ? 0 : perfBytes + PAGE) + taskBytes + outsideBytes;
    }

    /** Which rings there are. */
    record Sources(boolean perf, boolean task, boolean outside) {}
}
