package sonde.recording.perfdata;

import static sonde.recording.perfdata.PerfAbi.HEADER_BYTES;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sonde.event.Batch;
import sonde.event.Field;
import sonde.recording.LongList;
import sonde.recording.TypeBuilder;

/**
 * The counts of {@code perf stat record}: STAT records wait for the STAT_ROUND behind them, which
 * has their time, and become rows of {@code counter:value} (tools/perf/util/stat.c,
 * perf_event__process_stat_event and perf_evsel__compute_deltas of perf 6.1). Records tell what was
 * counted since the beginning; where STAT_CONFIG names an interval, rows tell what the round added.
 */
final class StatCounters {
    static final List<Field> FIELDS =
            new TypeBuilder("counter", "value")
                    .integer("track", 8, false)
                    .real("value")
                    .text("name")
                    .text("unit")
                    .integer("count", 8, false)
                    .integer("enabled", 8, false)
                    .integer("running", 8, false)
                    .build(0)
                    .fields();

    /** More than a payload has: head, name and unit. */
    static final int MOST_BYTES = 1 << 10;

    private static final int HEAD_BYTES = 56;
    private static final int MOST_TEXT_BYTES = 256;
    private static final int MOST_SERIES = 1 << 20;
    private static final int MOST_THREADS = 1 << 16;
    // enum perf_record_event_update.type of tools/lib/perf/include/perf/event.h
    private static final long UPDATE_UNIT = 0;
    private static final long UPDATE_SCALE = 1;
    private static final int UPDATE_BYTES = 24;
    // PERF_STAT_CONFIG_TERM__INTERVAL
    private static final long TERM_INTERVAL = 1;
    private static final int THREAD_BYTES = 24;

    private final EventIds ids;
    private final List<byte[]> names;
    private final byte[][] units;
    private final double[] scales;
    private final boolean[] counted;
    private final Map<StatSeries, long[]> before = new HashMap<>();
    private final LongList waiting = new LongList();
    private int[] threads = new int[0];
    private boolean interval;

    /** One descriptor's count. */
    private record StatSeries(int attr, int thread, int cpu) {}

    /** A waiting record. */
    private record WaitingStat(StatSeries series, long position) {}

    StatCounters(List<AttrEntry> attrs, EventIds ids) {
        this.ids = ids;
        names = attrs.stream().map(entry -> bytes(entry.name())).toList();
        units = new byte[names.size()][0];
        scales = new double[names.size()];
        Arrays.fill(scales, 1);
        counted = new boolean[names.size()];
    }

    private static byte[] bytes(String text) {
        byte[] all = text.getBytes(StandardCharsets.UTF_8);
        return all.length <= MOST_TEXT_BYTES ? all : Arrays.copyOf(all, MOST_TEXT_BYTES);
    }

    /** EVENT_UPDATE: the unit or the scale of an event. */
    void update(PerfView view, long at, int size) {
        int attr = size <= UPDATE_BYTES ? -1 : ids.attrOf(view.u64(at + 16));
        if (attr < 0) {
            return;
        }
        long what = view.u64(at + 8);
        if (what == UPDATE_SCALE && size >= UPDATE_BYTES + 8) {
            scales[attr] = Double.longBitsToDouble(view.u64(at + UPDATE_BYTES));
        } else if (what == UPDATE_UNIT) {
            byte[] text = new byte[Math.min(size - UPDATE_BYTES, MOST_TEXT_BYTES)];
            int length = 0;
            while (length < text.length && view.u8(at + UPDATE_BYTES + length) != 0) {
                text[length] = (byte) view.u8(at + UPDATE_BYTES + length);
                length++;
            }
            units[attr] = Arrays.copyOf(text, length);
        }
    }

    /** THREAD_MAP: whom the indexes of threads mean; -1 stands for all. */
    void threads(PerfView view, long at, int size) {
        if (size < 16) {
            return;
        }
        int room = Math.min((size - 16) / THREAD_BYTES, MOST_THREADS);
        long stated = view.u64(at + 8);
        threads = new int[stated < 0 || stated > room ? room : (int) stated];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = (int) view.u64(at + 16 + (long) THREAD_BYTES * i);
        }
    }

    /** STAT_CONFIG: whether counts are shown by interval. */
    void config(PerfView view, long at, int size) {
        for (long term = at + 16; at + size - term >= 16; term += 16) {
            if (view.u64(term) == TERM_INTERVAL) {
                interval = view.u64(term + 8) != 0;
            }
        }
    }

    /** A STAT record waits for its round. */
    void add(long position) {
        waiting.add(position);
    }

    int waiting() {
        return waiting.size();
    }

    /** The waiting records as they lie, for no round. */
    long[] rest() {
        long[] rest = waiting.toArray();
        waiting.clear();
        return rest;
    }

    /** The waiting records, by event, thread and CPU as perf shows them. */
    long[] round(PerfView file) {
        WaitingStat[] places = new WaitingStat[waiting.size()];
        for (int i = 0; i < places.length; i++) {
            long position = waiting.at(i);
            StatSeries series = series(file, position);
            places[i] = new WaitingStat(series, position);
            if (series.attr >= 0) {
                counted[series.attr] = true;
            }
        }
        waiting.clear();
        Arrays.sort(places, StatCounters::compare);
        return Arrays.stream(places).mapToLong(WaitingStat::position).toArray();
    }

    private static int compare(WaitingStat one, WaitingStat other) {
        int order = Integer.compare(one.series.attr, other.series.attr);
        order = order != 0 ? order : Integer.compare(one.series.thread, other.series.thread);
        return order != 0 ? order : Integer.compare(one.series.cpu, other.series.cpu);
    }

    private StatSeries series(PerfView view, long at) {
        return new StatSeries(ids.attrOf(view.u64(at + 8)), view.u32(at + 20), view.u32(at + 16));
    }

    /** Events of which no record told a count, by name. */
    List<String> uncounted() {
        return java.util.stream.IntStream.range(0, counted.length)
                .filter(attr -> !counted[attr])
                .mapToObj(attr -> new String(names.get(attr), StandardCharsets.UTF_8))
                .toList();
    }

    /**
     * Adds the row of a STAT record.
     *
     * @param base where the payload is made, at least {@link #MOST_BYTES} before the end
     * @return where it ends, a multiple of 8
     */
    long append(Batch out, PerfView from, long at, long time, int type, PerfView to, long base) {
        StatSeries series = series(from, at);
        int attr = series.attr;
        if (attr < 0) {
            out.add(time, -1, -1, PerfTypes.UNKNOWN, base, 0);
            return base;
        }
        long[] total = {from.u64(at + 24), from.u64(at + 32), from.u64(at + 40)};
        long[] added = total.clone();
        if (interval) {
            long[] last = before.get(series);
            for (int i = 0; last != null && i < added.length; i++) {
                added[i] -= last[i];
            }
            if (last != null || before.size() < MOST_SERIES) {
                before.put(series, total);
            }
        }
        to.put64(base + FIELDS.get(0).offset(), from.u64(at + HEADER_BYTES));
        double value = value(added, scales[attr]);
        to.put64(base + FIELDS.get(1).offset(), Double.doubleToRawLongBits(value));
        long end = text(to, base, FIELDS.get(2), base + HEAD_BYTES, names.get(attr));
        end = text(to, base, FIELDS.get(3), end, units[attr]);
        for (int i = 0; i < added.length; i++) {
            to.put64(base + FIELDS.get(4 + i).offset(), added[i]);
        }
        boolean known = series.thread >= 0 && series.thread < threads.length;
        int tid = known ? threads[series.thread] : -1;
        int row = out.add(time, series.cpu, tid, type, base, (int) (end - base));
        out.sample(row, tid, 1, base, 0);
        return end + 7 & -8;
    }

    /** As perf stat shows it; no number when the counter never ran. */
    private static double value(long[] counts, double scale) {
        if (counts[1] == 0 || counts[2] == 0) {
            return Double.NaN;
        }
        double count = counts[0] * scale;
        return counts[1] == counts[2] ? count : count * counts[1] / counts[2];
    }

    private static long text(PerfView to, long base, Field field, long at, byte[] text) {
        to.put32(base + field.offset(), (int) (at - base));
        to.put32(base + field.offset() + 4, text.length);
        for (int i = 0; i < text.length; i++) {
            to.put8(at + i, text[i]);
        }
        return at + text.length;
    }
}
