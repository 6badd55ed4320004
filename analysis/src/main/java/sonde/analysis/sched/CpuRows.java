package sonde.analysis.sched;

import java.util.Arrays;

/** What is known of each CPU: its last row, its last switch, who runs, where events were lost. */
final class CpuRows {
    private LossGaps[] gaps = new LossGaps[0];
    private long[] lastRow = new long[0];
    private int[] current = new int[0];
    private long[] lastSwitch = new long[0];
    private long[] ranUntil = new long[0];

    /** A row of that CPU; -1 for a row of none. */
    void seen(int cpu, long time) {
        if (cpu < 0) {
            return;
        }
        if (cpu >= lastRow.length) {
            grow(cpu + 1);
        }
        lastRow[cpu] = time;
    }

    private void grow(int size) {
        int from = lastRow.length;
        lastRow = Arrays.copyOf(lastRow, size);
        current = Arrays.copyOf(current, size);
        lastSwitch = Arrays.copyOf(lastSwitch, size);
        ranUntil = Arrays.copyOf(ranUntil, size);
        gaps = Arrays.copyOf(gaps, size);
        for (int i = from; i < size; i++) {
            lastSwitch[i] = Long.MIN_VALUE;
            ranUntil[i] = Long.MIN_VALUE;
            gaps[i] = new LossGaps();
            current[i] = -1;
        }
    }

    private boolean knows(int cpu) {
        return cpu >= 0 && cpu < lastRow.length;
    }

    /** The thread that runs there; -1 for the idle task, or when no row told. */
    int current(int cpu) {
        return knows(cpu) ? current[cpu] : -1;
    }

    /** A row showed the thread there. */
    void runs(int cpu, int thread) {
        current[cpu] = thread;
    }

    /** Time of the last switch; {@link Long#MIN_VALUE} before the first. */
    long lastSwitch(int cpu) {
        return knows(cpu) ? lastSwitch[cpu] : Long.MIN_VALUE;
    }

    /** A thread was told to have run there until then. */
    void ran(int cpu, long time) {
        if (knows(cpu)) {
            ranUntil[cpu] = Math.max(ranUntil[cpu], time);
        }
    }

    /**
     * Until when any thread was told to have run there; {@link Long#MIN_VALUE} before the first.
     */
    long ranUntil(int cpu) {
        return knows(cpu) ? ranUntil[cpu] : Long.MIN_VALUE;
    }

    /** A switch to that thread, -1 for the idle task. */
    void switched(int cpu, int thread, long time) {
        current[cpu] = thread;
        lastSwitch[cpu] = time;
    }

    /** Time of the last row, {@code otherwise} when there was none. */
    long rowBefore(int cpu, long otherwise) {
        return knows(cpu) ? lastRow[cpu] : otherwise;
    }

    /**
     * Events were lost since the last row, or since {@code start}.
     *
     * @param cpu -1 for all
     */
    void lost(int cpu, long start, long time) {
        for (int i = 0; i < gaps.length; i++) {
            if (cpu < 0 || i == cpu) {
                gaps[i].add(Math.max(lastRow[i], start), time);
            }
        }
    }

    /** Start of the first gap that ends after {@code time}; {@link Long#MAX_VALUE} for none. */
    long gapAfter(int cpu, long time) {
        return knows(cpu) ? gaps[cpu].startAfter(time) : Long.MAX_VALUE;
    }

    /** End of the last gap; only to be asked after {@link #gapAfter} found one. */
    long lastGapEnd(int cpu) {
        return gaps[cpu].lastEnd();
    }
}
