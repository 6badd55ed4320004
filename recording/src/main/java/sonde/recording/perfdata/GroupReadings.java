package sonde.recording.perfdata;

import static sonde.recording.perfdata.PerfAbi.FLAG_INHERIT;
import static sonde.recording.perfdata.PerfAbi.PERF_FORMAT_ID;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_READ;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sonde.recording.perfdata.SampleLayout.SampleOffsets;

/**
 * Samples that carry readings of counters ({@code perf record -e '{a,b}:S'}) stand for a sample of
 * each counter that was read, whose period is what it counted since its last reading
 * (deliver_sample_group, tools/perf/util/session.c). Counters that did not move have none.
 */
final class GroupReadings {
    /** Counters by thread whose last values are kept; beyond, samples stand for themselves. */
    private static final int MOST_KEPT = 1 << 20;

    private final List<AttrEntry> attrs;
    private final EventIds ids;
    private final SampleLayout[] layouts;
    private final Map<GroupCounter, Long> last = new HashMap<>();
    private int[] kinds = new int[8];
    private long[] counted = new long[8];

    /** A counter; since 6.12 values of inherited ones are each thread's own. */
    private record GroupCounter(long id, int tid) {}

    GroupReadings(List<AttrEntry> attrs, EventIds ids, SampleLayout[] layouts) {
        this.attrs = attrs;
        this.ids = ids;
        this.layouts = layouts;
    }

    /** Whether samples of this attr carry readings with ids. */
    boolean reads(int kind) {
        PerfAttr attr = attrs.get(kind).attr();
        return attr.samples(PERF_SAMPLE_READ) && (attr.readFormat() & PERF_FORMAT_ID) != 0;
    }

    /** How many counters were read in a sample that was located. */
    int size(PerfView view, int kind, SampleOffsets found) {
        return layouts[kind].readings(view, found);
    }

    /**
     * Takes the readings of a sample.
     *
     * @return how many rows it makes; -1 when it is a row as it is
     */
    int take(PerfView view, int kind, SampleOffsets found) {
        SampleLayout layout = layouts[kind];
        int size = layout.readings(view, found);
        for (int i = 0; i < size; i++) {
            int member = ids.attrOf(view.u64(layout.readIdAt(found, i)));
            if (member < 0 || !isAlike(kind, member) || last.size() >= MOST_KEPT) {
                return -1;
            }
        }
        if (size > kinds.length) {
            kinds = Arrays.copyOf(kinds, size);
            counted = Arrays.copyOf(counted, size);
        }
        boolean inherited = attrs.get(kind).attr().has(FLAG_INHERIT);
        int rows = 0;
        for (int i = 0; i < size; i++) {
            long value = view.u64(layout.valueAt(found, i));
            long id = view.u64(layout.readIdAt(found, i));
            Long before = last.put(new GroupCounter(id, inherited ? found.tid : -1), value);
            long moved = before == null ? value : value - before;
            if (moved != 0) {
                kinds[rows] = ids.attrOf(id);
                counted[rows++] = moved;
            }
        }
        return rows;
    }

    /** Members follow their leader in what a sample holds: perf record sees to that. */
    private boolean isAlike(int kind, int member) {
        PerfAttr leader = attrs.get(kind).attr();
        PerfAttr other = attrs.get(member).attr();
        return leader.sampleType() == other.sampleType()
                && leader.readFormat() == other.readFormat();
    }

    /** The attr of a row. */
    int kind(int row) {
        return kinds[row];
    }

    /** What a row's counter counted. */
    long counted(int row) {
        return counted[row];
    }
}
