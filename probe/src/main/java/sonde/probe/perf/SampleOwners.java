package sonde.probe.perf;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
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
 * Gives samples back to the event they belong to, and puts the ends of records where they belong.
 *
 * <p>At a hit of a software event (page-faults and its kind) the kernel hands one struct
 * perf_sample_data to every perf event that counts it, also to those of other processes
 * (do_perf_sw_event), and perf_prepare_sample leaves alone what is set already (since Linux 6.3;
 * seen on 6.18; mended for tracepoints in perf_tp_event, 6.4). So while somebody else counts the
 * same event, our samples of it carry the other's identifier, and its time, which may be of another
 * clock. No tool can read such a sample: perf stops at it, "Can't parse sample, err = -14".
 *
 * <p>A ksymbol or bpf_event record grows by a sample_id for each recorder on the machine that
 * receives it (perf_event_ksymbol_output and perf_event_bpf_output keep the size that
 * perf_event_header__init_id has added, 6.18): only what the first one gets ends with its
 * sample_id, the others' end with bytes of older records. perf stops at such a record, too.
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

    /** Offset of the name of a ksymbol; a bpf_event has no more than these bytes of its own. */
    private static final long NAME = 24;

    /** Size of sample_id: u32 pid, tid; u64 time; u32 cpu, res; u64 identifier. */
    private static final long SAMPLE_ID = 32;

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

    /** Whether the record that begins there, in a ring of ours, is to be mended. */
    boolean isForeign(MemorySegment data, long mask, long at) {
        long header = data.get(JAVA_LONG_UNALIGNED, at & mask);
        long identifier =
                switch ((int) header) {
                    case PerfAbi.PERF_RECORD_SAMPLE -> sharedByCpu.isEmpty() ? -1 : at + IDENTIFIER;
                    case PerfAbi.PERF_RECORD_KSYMBOL, PerfAbi.PERF_RECORD_BPF_EVENT ->
                            header >>> 48 < NAME + SAMPLE_ID ? -1 : at + (header >>> 48) - 8;
                    default -> -1;
                };
        return identifier >= 0 && !isOwn(data.get(JAVA_LONG_UNALIGNED, identifier & mask));
    }

    private boolean isOwn(long identifier) {
        return Arrays.binarySearch(own, identifier) >= 0;
    }

    /**
     * Mends all records of a copy of a ring's: samples of others get the identifier of the software
     * event of the CPU, and the time of the record before where their own cannot be. A sample_id
     * moves to the end of its record.
     *
     * @param before time of the record before the first
     * @param now CLOCK_MONOTONIC after the ring was looked at
     */
    void mend(MemorySegment records, int cpu, long before, long now) {
        Long owner = sharedByCpu.get(cpu);
        long last = before;
        long at = 0;
        while (at + PerfAbi.HEADER_BYTES <= records.byteSize()) {
            long header = records.get(JAVA_LONG_UNALIGNED, at);
            long size = header >>> 48;
            if (size < PerfAbi.HEADER_BYTES || at + size > records.byteSize()) {
                return;
            }
            boolean foreign = isForeign(records, -1, at);
            if ((int) header != PerfAbi.PERF_RECORD_SAMPLE) {
                if (foreign) {
                    mendEnd(records.asSlice(at, size));
                }
            } else if (owner != null && size >= TIME + 8) {
                long time = records.get(JAVA_LONG_UNALIGNED, at + TIME);
                if (foreign) {
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

    /** What stands between a name and the sample_id at the end is zeros, which no reader minds. */
    private void mendEnd(MemorySegment record) {
        long body = NAME;
        if (record.get(JAVA_INT_UNALIGNED, 0) == PerfAbi.PERF_RECORD_KSYMBOL) {
            while (body < record.byteSize() && record.get(JAVA_BYTE, body) != 0) {
                body++;
            }
            body = (body & -Long.BYTES) + Long.BYTES;
        }
        long rest = record.byteSize() - body - SAMPLE_ID;
        if (rest >= SAMPLE_ID && isOwn(record.get(JAVA_LONG_UNALIGNED, body + SAMPLE_ID - 8))) {
            MemorySegment.copy(record, body, record, body + rest, SAMPLE_ID);
            record.asSlice(body, rest).fill((byte) 0);
        }
    }

    /** Samples mended so far. */
    long mended() {
        return mended;
    }
}
