package sonde.probe.perf;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_SW_BPF_OUTPUT;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_SW_CPU_CLOCK;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_SW_DUMMY;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_SW_TASK_CLOCK;
import static sonde.recording.perfdata.PerfAbi.PERF_TYPE_SOFTWARE;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import sonde.recording.perfdata.AttrEntry;
import sonde.recording.perfdata.PerfAbi;

/**
 * Gives samples back to the event they belong to.
 *
 * <p>At a hit of a software event (page-faults and its kind) the kernel hands one struct
 * perf_sample_data to every perf event that counts it, also to those of other processes
 * (do_perf_sw_event), and perf_prepare_sample leaves alone what is set already (since Linux 6.3;
 * seen on 6.18; mended for tracepoints in perf_tp_event, 6.4). So while somebody else counts the
 * same event, our samples of it carry the other's identifier, and its time, which may be of another
 * clock. No tool can read such a sample: perf stops at it, "Can't parse sample, err = -14".
 */
final class SampleOwners {
    private static final Set<Long> OTHER_ROADS =
            Set.of(
                    (long) PERF_COUNT_SW_CPU_CLOCK,
                    (long) PERF_COUNT_SW_TASK_CLOCK,
                    (long) PERF_COUNT_SW_DUMMY,
                    (long) PERF_COUNT_SW_BPF_OUTPUT);

    /** Offsets in a sample of ours: header, identifier, ip, pid and tid, time. */
    private static final long IDENTIFIER = 8;

    private static final long TIME = 32;

    private final long[] own;
    private final Map<Integer, Long> sharedByCpu;
    private long mended;

    private SampleOwners(long[] own, Map<Integer, Long> sharedByCpu) {
        this.own = own;
        this.sharedByCpu = sharedByCpu;
    }

    /** For rings into which these events write. */
    static SampleOwners of(List<OpenEvent> events) {
        Map<Integer, Long> shared = new HashMap<>();
        for (OpenEvent event : events) {
            boolean hits =
                    event.attr().type() == PERF_TYPE_SOFTWARE
                            && !OTHER_ROADS.contains(event.attr().config());
            if (hits) {
                event.idByCpu().forEach(shared::putIfAbsent);
            }
        }
        long[] own =
                events.stream()
                        .map(OpenEvent::entry)
                        .map(AttrEntry::ids)
                        .flatMapToLong(Arrays::stream)
                        .sorted()
                        .toArray();
        return new SampleOwners(own, shared);
    }

    /** Whether a sample with this identifier, read in a ring of ours, is to be mended. */
    boolean isForeign(long identifier) {
        return Arrays.binarySearch(own, identifier) < 0 && !sharedByCpu.isEmpty();
    }

    /** As {@link #isForeign(long)}, of the sample that begins there. */
    boolean isForeign(MemorySegment data, long mask, long at) {
        return isForeign(data.get(JAVA_LONG_UNALIGNED, at + IDENTIFIER & mask));
    }

    /**
     * Mends all samples of a copy of a ring's records: those of others get the identifier of the
     * software event of the CPU, and the time of the record before where their own cannot be.
     *
     * @param before time of the record before the first
     * @param now CLOCK_MONOTONIC after the ring was looked at
     */
    void mend(MemorySegment records, int cpu, long before, long now) {
        Long owner = sharedByCpu.get(cpu);
        long last = before;
        long at = 0;
        while (owner != null && at + PerfAbi.HEADER_BYTES <= records.byteSize()) {
            long header = records.get(JAVA_LONG_UNALIGNED, at);
            long size = header >>> 48;
            if (size < PerfAbi.HEADER_BYTES || at + size > records.byteSize()) {
                return;
            }
            if ((int) header == PerfAbi.PERF_RECORD_SAMPLE && size >= TIME + 8) {
                long time = records.get(JAVA_LONG_UNALIGNED, at + TIME);
                if (isForeign(records, -1, at)) {
                    mended++;
                    time = time < last || time > now ? last : time;
                    records.set(JAVA_LONG_UNALIGNED, at + IDENTIFIER, owner);
                    records.set(JAVA_LONG_UNALIGNED, at + TIME, time);
                }
                last = time;
            }
            at += size;
        }
    }

    /** Samples mended so far. */
    long mended() {
        return mended;
    }
}
