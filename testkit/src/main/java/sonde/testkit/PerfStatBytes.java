package sonde.testkit;

import java.nio.ByteOrder;
import sonde.testkit.PerfDataBytes.Fields;

/** What {@code perf stat record} writes, field by field (tools/lib/perf/include/perf/event.h). */
public final class PerfStatBytes {
    private final PerfDataBytes file;

    /** Two events, a clock in milliseconds (ids 11 and 12) and one of plain numbers (21, 22). */
    public PerfStatBytes(ByteOrder order) {
        file = new PerfDataBytes(order);
        for (long id : new long[] {11, 21}) {
            byte[] attr = file.attr(1, id == 11 ? 1 : 3, 1L << 16, 3, 0);
            java.util.Arrays.fill(attr, 16, 24, (byte) 0); // sample_period
            file.event(attr, id, id + 1);
        }
        file.describe("task-clock", "context-switches").feature(19, new byte[0]);
        Fields unit = file.fields().u64(0, 11).text("msec", 8); // PERF_EVENT_UPDATE__UNIT
        file.record(78, 0, unit);
        long scale = Double.doubleToRawLongBits(1e-6);
        file.record(78, 0, file.fields().u64(1, 11, scale)); // PERF_EVENT_UPDATE__SCALE
    }

    /** The file. */
    public PerfDataBytes file() {
        return file;
    }

    /** STAT_CONFIG with aggregation mode, interval in milliseconds, scaling. */
    public PerfStatBytes config(long interval) {
        file.record(75, 0, file.fields().u64(3).u64(0, 0).u64(1, interval).u64(2, 1));
        return this;
    }

    /** THREAD_MAP. */
    public PerfStatBytes threads(long... pids) {
        Fields map = file.fields().u64(pids.length);
        for (long pid : pids) {
            map.u64(pid).text("name", 16);
        }
        file.record(73, 0, map);
        return this;
    }

    /** STAT: count, time enabled and time running of a descriptor. */
    public PerfStatBytes stat(long id, int cpu, int thread, long... counts) {
        file.record(76, 0, file.fields().u64(id).u32(cpu).u32(thread).u64(counts));
        return this;
    }

    /** STAT_ROUND: nanoseconds since the beginning. */
    public PerfStatBytes round(long time) {
        file.record(77, 0, file.fields().u64(0, time));
        return this;
    }
}
