package sonde.recording.perfdata;

import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_BRANCH_STACK;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_CGROUP;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_CODE_PAGE_SIZE;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_DATA_PAGE_SIZE;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_DATA_SRC;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_PHYS_ADDR;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_READ;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_REGS_INTR;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_REGS_USER;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_STACK_USER;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_TRANSACTION;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_WEIGHT;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_WEIGHT_STRUCT;

/**
 * The parts of a sample that few attrs ask for, by the names that {@link SampleFields} gives them;
 * the counterpart of {@link SampleLayout}.
 */
public interface PerfSampleRest {
    /** What can be written. */
    long PARTS =
            PERF_SAMPLE_READ
                    | PERF_SAMPLE_BRANCH_STACK
                    | PERF_SAMPLE_REGS_USER
                    | PERF_SAMPLE_STACK_USER
                    | PERF_SAMPLE_WEIGHT
                    | PERF_SAMPLE_WEIGHT_STRUCT
                    | PERF_SAMPLE_DATA_SRC
                    | PERF_SAMPLE_TRANSACTION
                    | PERF_SAMPLE_REGS_INTR
                    | PERF_SAMPLE_PHYS_ADDR
                    | PERF_SAMPLE_CGROUP
                    | PERF_SAMPLE_DATA_PAGE_SIZE
                    | PERF_SAMPLE_CODE_PAGE_SIZE;

    /** The rest of a sample that has none: zeros, and no elements. */
    PerfSampleRest NONE =
            new PerfSampleRest() {
                @Override
                public long number(String name) {
                    return 0;
                }

                @Override
                public long[] numbers(String name) {
                    return new long[0];
                }

                @Override
                public byte[] bytes(String name) {
                    return new byte[0];
                }
            };

    /** An integer; 0 when there is none. */
    long number(String name);

    /** Integers of 8 bytes. */
    long[] numbers(String name);

    /** Bytes as they lie. */
    byte[] bytes(String name);
}
