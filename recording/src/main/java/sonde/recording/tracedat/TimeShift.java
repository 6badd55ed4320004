package sonde.recording.tracedat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import sonde.binary.FieldCursor;
import sonde.binary.MalformedInputException;

/**
 * Option TIME_SHIFT of a guest's file: how its clock was measured against its host's
 * (trace-cmd.dat.v7.5, "TIME_SHIFT"; the fractions came with trace-cmd 3.1).
 *
 * @param peerId trace id of the host's file
 * @param flags of the protocol that measured: {@link #INTERPOLATE}
 * @param cpus measurements by virtual CPU, each list by time
 */
public record TimeShift(long peerId, int flags, List<List<ShiftMeasurement>> cpus) {
    /** Offsets between two measurements are interpolated, not those of the earlier one. */
    public static final int INTERPOLATE = 1;

    private static final int MOST_CPUS = 1 << 16;
    private static final int MOST_SAMPLES = 1 << 20;

    public TimeShift {
        cpus = List.copyOf(cpus);
    }

    /**
     * One measurement.
     *
     * @param time of the guest's clock
     * @param offset that the host's is ahead then, after scaling
     * @param scaling the guest's time is multiplied by it and shifted right by {@code fraction}
     */
    public record ShiftMeasurement(long time, long offset, long scaling, int fraction) {}

    static TimeShift read(FieldCursor option) throws MalformedInputException {
        long peer = option.u64("time shift: peer");
        int flags = option.s32("time shift: flags");
        int cpus = option.bounded("time shift: CPUs", option.u32("time shift: CPUs"), MOST_CPUS);
        List<long[][]> columns = new ArrayList<>();
        for (int cpu = 0; cpu < cpus; cpu++) {
            long count = option.u32("time shift: samples");
            int samples = option.bounded("time shift: samples", count, MOST_SAMPLES);
            if (samples > option.remaining() / 24) {
                throw option.malformed("time shift: samples", samples + " do not fit");
            }
            columns.add(
                    new long[][] {
                        column(option, samples), column(option, samples), column(option, samples)
                    });
        }
        List<List<ShiftMeasurement>> all = new ArrayList<>();
        for (long[][] column : columns) {
            int samples = column[0].length;
            boolean fractions = option.remaining() >= 8L * samples;
            long[] fraction = fractions ? column(option, samples) : new long[samples];
            List<ShiftMeasurement> ofCpu = new ArrayList<>();
            for (int i = 0; i < samples; i++) {
                int bits = (int) Math.max(0, Math.min(63, fraction[i]));
                ofCpu.add(new ShiftMeasurement(column[0][i], column[1][i], column[2][i], bits));
            }
            all.add(ordered(ofCpu));
        }
        return new TimeShift(peer, flags, all);
    }

    private static long[] column(FieldCursor option, int count) throws MalformedInputException {
        long[] values = new long[count];
        for (int i = 0; i < count; i++) {
            values[i] = option.u64("time shift");
        }
        return values;
    }

    /** By time; of several at the same time the first. */
    private static List<ShiftMeasurement> ordered(List<ShiftMeasurement> samples) {
        List<ShiftMeasurement> sorted = new ArrayList<>(samples);
        sorted.sort(Comparator.comparing(ShiftMeasurement::time, Long::compareUnsigned));
        List<ShiftMeasurement> distinct = new ArrayList<>();
        for (ShiftMeasurement sample : sorted) {
            if (distinct.isEmpty() || distinct.getLast().time != sample.time) {
                distinct.add(sample);
            }
        }
        return List.copyOf(distinct);
    }

    /** A time of the guest in the host's clock. */
    long toHost(int cpu, long time) {
        if (cpu < 0 || cpu >= cpus.size() || cpus.get(cpu).isEmpty()) {
            return time;
        }
        List<ShiftMeasurement> samples = cpus.get(cpu);
        if (samples.size() == 1) {
            // As trace-cmd: a single measurement tells the offset only.
            return time + samples.getFirst().offset;
        }
        int low = 0;
        int high = samples.size() - 2;
        // The last measurement that is not later, but never the very last one.
        while (low < high) {
            int middle = (low + high + 1) >>> 1;
            if (Long.compareUnsigned(samples.get(middle).time, time) <= 0) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return corrected(time, samples.get(low), samples.get(low + 1));
    }

    private long corrected(long time, ShiftMeasurement from, ShiftMeasurement to) {
        long offset = from.offset;
        if ((flags & INTERPOLATE) != 0) {
            long delta = to.time - from.time;
            long moved = (time - from.time) * (to.offset - from.offset);
            offset += (moved + delta / 2) / delta;
        }
        long scaled = from.scaling == 0 ? time : time * from.scaling >>> from.fraction;
        return scaled + offset;
    }
}
