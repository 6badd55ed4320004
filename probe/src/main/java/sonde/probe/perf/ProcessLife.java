package sonde.probe.perf;

import static sonde.recording.perfdata.PerfAbi.FLAG_BUILD_ID;
import static sonde.recording.perfdata.PerfAbi.FLAG_COMM;
import static sonde.recording.perfdata.PerfAbi.FLAG_COMM_EXEC;
import static sonde.recording.perfdata.PerfAbi.FLAG_KSYMBOL;
import static sonde.recording.perfdata.PerfAbi.FLAG_MMAP;
import static sonde.recording.perfdata.PerfAbi.FLAG_MMAP2;
import static sonde.recording.perfdata.PerfAbi.FLAG_SAMPLE_ID_ALL;
import static sonde.recording.perfdata.PerfAbi.FLAG_TASK;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_SW_DUMMY;
import static sonde.recording.perfdata.PerfAbi.PERF_FORMAT_ID;
import static sonde.recording.perfdata.PerfAbi.PERF_FORMAT_LOST;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_CPU;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_IDENTIFIER;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_TID;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_TIME;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import sonde.probe.perf.OpenEvent.CounterReading;
import sonde.recording.perfdata.PerfAttr;
import sonde.sys.Clocks;
import sonde.sys.Errno;
import sonde.sys.MachineFacts;
import sonde.sys.SyscallException;

/**
 * What processes of the whole machine map, begin and end: a dummy event and its ring on each CPU.
 * For one thread at a time.
 */
public final class ProcessLife implements AutoCloseable {
    /** A program that begins writes about 2 KiB. */
    private static final long RING_BYTES = 256 << 10;

    private static final long FLAGS =
            FLAG_SAMPLE_ID_ALL
                    | FLAG_MMAP
                    | FLAG_MMAP2
                    | FLAG_COMM
                    | FLAG_COMM_EXEC
                    | FLAG_TASK
                    | FLAG_KSYMBOL;

    private final OpenEvent event;
    private final boolean exactLosses;
    private final List<PerfRing> rings = new ArrayList<>();
    private final PerfRing.Tally tally = new PerfRing.Tally();
    private SampleOwners owners = SampleOwners.of(List.of());
    private List<LifeRecord> waiting = new ArrayList<>();
    private boolean closed;

    private ProcessLife(PerfAttr attr, boolean exactLosses) {
        this.event = new OpenEvent(AttrFactory.DUMMY, attr);
        this.exactLosses = exactLosses;
    }

    /**
     * Begins to listen.
     *
     * @throws SyscallException EACCES or EPERM without CAP_PERFMON, EMFILE, ENOMEM
     */
    public static ProcessLife open() throws SyscallException {
        try {
            return open(FLAGS | FLAG_BUILD_ID, true);
        } catch (SyscallException e) {
            if (e.errno() != Errno.EINVAL) {
                throw e;
            }
            // Build ids came with Linux 5.12, exact losses with 6.0.
            return open(FLAGS, false);
        }
    }

    private static ProcessLife open(long flags, boolean exact) throws SyscallException {
        PerfAttr attr =
                PerfAttr.software(PERF_COUNT_SW_DUMMY)
                        .period(1)
                        .flags(flags)
                        .sampleType(
                                PERF_SAMPLE_IDENTIFIER
                                        | PERF_SAMPLE_TID
                                        | PERF_SAMPLE_TIME
                                        | PERF_SAMPLE_CPU)
                        .readFormat(PERF_FORMAT_ID | (exact ? PERF_FORMAT_LOST : 0))
                        .watermark((int) (RING_BYTES / 4))
                        .clockid(Clocks.CLOCK_MONOTONIC)
                        .build();
        ProcessLife life = new ProcessLife(attr, exact);
        BitSet cpus = MachineFacts.onlineCpus();
        try {
            for (int cpu = cpus.nextSetBit(0); cpu >= 0; cpu = cpus.nextSetBit(cpu + 1)) {
                life.rings.add(PerfRing.map(cpu, life.event.open(cpu, -1), RING_BYTES));
            }
            life.owners = SampleOwners.of(List.of(life.event));
        } catch (SyscallException e) {
            life.close();
            throw e;
        }
        return life;
    }

    /**
     * Hands out what has come, in the order of time. Records that were written during the call may
     * wait for the next one: an earlier one of another CPU may not have been there yet.
     */
    public void drain(Consumer<? super LifeRecord> visitor) {
        long begun = Clocks.nanos(Clocks.CLOCK_MONOTONIC);
        LifeRecords reader = new LifeRecords(waiting::add);
        try {
            for (PerfRing ring : rings) {
                ring.drain(
                        ring.head(),
                        (first, second) -> reader.read(joined(first, second)),
                        tally,
                        owners,
                        null);
            }
        } catch (IOException e) {
            throw new IllegalStateException("nothing here fails so", e);
        }
        if (waiting.isEmpty()) {
            return;
        }
        waiting.sort(Comparator.comparingLong(LifeRecord::timeNanos));
        int ready = waiting.size();
        while (ready > 0 && waiting.get(ready - 1).timeNanos() > begun) {
            ready--;
        }
        List<LifeRecord> now = waiting;
        waiting = new ArrayList<>(now.subList(ready, now.size()));
        now.subList(0, ready).forEach(visitor);
    }

    private static byte[] joined(MemorySegment first, MemorySegment second) {
        byte[] bytes = new byte[Math.toIntExact(first.byteSize() + second.byteSize())];
        MemorySegment all = MemorySegment.ofArray(bytes);
        MemorySegment.copy(first, 0, all, 0, first.byteSize());
        MemorySegment.copy(second, 0, all, first.byteSize(), second.byteSize());
        return bytes;
    }

    /** Records that did not fit, so far; before Linux 6.0 as far as later records tell. */
    public long lost() throws SyscallException {
        return exactLosses
                ? event.accounts(Map.of()).values().stream().mapToLong(CounterReading::lost).sum()
                : tally.lost;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            rings.forEach(PerfRing::close);
            event.close();
        }
    }
}
