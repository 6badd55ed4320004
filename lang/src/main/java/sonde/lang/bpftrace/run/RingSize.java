package sonde.lang.bpftrace.run;

import sonde.lang.bpftrace.expand.ScriptConfig;
import sonde.sys.MachineFacts;
import sonde.sys.SyscallException;

/** How large the ring is that events go through. */
final class RingSize {
    private static final int LEAST_PAGES = 64;
    private static final int MOST_PAGES = 4096;
    private static final int CPU_PAGES = 16;
    private static final long SHARE = 1024;

    private RingSize() {}

    /** As {@link #bytes}, where each CPU has a ring: an equal part, of 16 pages at least. */
    static long perCpu(ScriptConfig configuration) throws SyscallException {
        if (configuration.ringPages() > 0) {
            return bytes(configuration);
        }
        long part = bytes(configuration) / Math.max(1, LoadedScript.cpus());
        return Math.max(
                CPU_PAGES * (long) MachineFacts.pageBytes(), Long.highestOneBit(Math.max(1, part)));
    }

    /** A power of two of pages: what the script says, or by the machine's memory. */
    static long bytes(ScriptConfig configuration) throws SyscallException {
        int page = MachineFacts.pageBytes();
        long pages = configuration.ringPages();
        if (pages <= 0) {
            pages = Math.clamp(MachineFacts.ramBytes() / SHARE / page, LEAST_PAGES, MOST_PAGES);
        }
        long up = Long.highestOneBit(Math.clamp(pages, 1, 1 << 18));
        return (up < pages ? up * 2 : up) * page;
    }
}
