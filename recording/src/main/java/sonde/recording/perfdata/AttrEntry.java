package sonde.recording.perfdata;

import java.util.Arrays;

/**
 * An event of a perf.data: its attr, the ids the kernel gave its descriptors, its name.
 *
 * @param attr what was asked of perf_event_open(2)
 * @param ids PERF_EVENT_IOC_ID of each descriptor (one per CPU); samples name one of them
 * @param name as perf prints it: {@code "cpu-clock"}, {@code "sched:sched_switch"}; empty when the
 *     file does not tell
 */
public record AttrEntry(PerfAttr attr, long[] ids, String name) {
    public AttrEntry {
        ids = ids.clone();
    }

    /** A copy of the ids. */
    @Override
    public long[] ids() {
        return ids.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof AttrEntry(PerfAttr a, long[] i, String n)
                && attr.equals(a)
                && Arrays.equals(ids, i)
                && name.equals(n);
    }

    @Override
    public int hashCode() {
        return 31 * attr.hashCode() + Arrays.hashCode(ids);
    }
}
