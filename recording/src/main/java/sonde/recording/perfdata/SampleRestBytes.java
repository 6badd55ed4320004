package sonde.recording.perfdata;

import static sonde.recording.perfdata.PerfAbi.PERF_FORMAT_GROUP;
import static sonde.recording.perfdata.PerfAbi.PERF_FORMAT_ID;
import static sonde.recording.perfdata.PerfAbi.PERF_FORMAT_LOST;
import static sonde.recording.perfdata.PerfAbi.PERF_FORMAT_TOTAL_TIME_ENABLED;
import static sonde.recording.perfdata.PerfAbi.PERF_FORMAT_TOTAL_TIME_RUNNING;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_BRANCH_COUNTERS;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_BRANCH_HW_INDEX;
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

import java.util.Arrays;
import sonde.recording.GrowableBytes;

/** Encodes {@link PerfSampleRest}; made for one sample. */
record SampleRestBytes(PerfSampleRest rest) {
    private static long at(long[] values, int index) {
        return index < values.length ? values[index] : 0;
    }

    /** PERF_SAMPLE_READ: struct read_format. */
    private void times(GrowableBytes out, long format) {
        if ((format & PERF_FORMAT_TOTAL_TIME_ENABLED) != 0) {
            out.u64(rest.number("time_enabled"));
        }
        if ((format & PERF_FORMAT_TOTAL_TIME_RUNNING) != 0) {
            out.u64(rest.number("time_running"));
        }
    }

    /** Appends what stands before the call chain. */
    void read(GrowableBytes out, PerfAttr attr) {
        if (!attr.samples(PERF_SAMPLE_READ)) {
            return;
        }
        long format = attr.readFormat();
        long[] values = rest.numbers("read_values");
        long[] ids = rest.numbers("read_ids");
        long[] lost = rest.numbers("read_lost");
        boolean group = (format & PERF_FORMAT_GROUP) != 0;
        if (group) {
            out.u64(values.length);
            times(out, format);
        }
        int count = group ? values.length : 1;
        for (int i = 0; i < count; i++) {
            out.u64(at(values, i));
            if (!group) {
                times(out, format);
            }
            if ((format & PERF_FORMAT_ID) != 0) {
                out.u64(at(ids, i));
            }
            if ((format & PERF_FORMAT_LOST) != 0) {
                out.u64(at(lost, i));
            }
        }
    }

    /** Appends what stands behind RAW. */
    void behindRaw(GrowableBytes out, PerfAttr attr) {
        if (attr.samples(PERF_SAMPLE_BRANCH_STACK)) {
            branches(out, attr.branchSampleType());
        }
        if (attr.samples(PERF_SAMPLE_REGS_USER)) {
            registers(out, "user_regs", attr.sampleRegsUser());
        }
        if (attr.samples(PERF_SAMPLE_STACK_USER)) {
            byte[] stack = rest.bytes("user_stack");
            int padded = stack.length + 7 & -8;
            out.u64(padded).raw(Arrays.copyOf(stack, padded));
            if (padded > 0) {
                out.u64(stack.length);
            }
        }
        if (attr.samples(PERF_SAMPLE_WEIGHT_STRUCT)) {
            out.u64(
                    rest.number("weight") & 0xffff_ffffL
                            | (rest.number("ins_lat") & 0xffff) << 32
                            | (rest.number("weight3") & 0xffff) << 48);
        } else {
            word(out, attr, PERF_SAMPLE_WEIGHT, "weight");
        }
        word(out, attr, PERF_SAMPLE_DATA_SRC, "data_src");
        word(out, attr, PERF_SAMPLE_TRANSACTION, "transaction");
        if (attr.samples(PERF_SAMPLE_REGS_INTR)) {
            registers(out, "intr_regs", attr.sampleRegsIntr());
        }
        word(out, attr, PERF_SAMPLE_PHYS_ADDR, "phys_addr");
        word(out, attr, PERF_SAMPLE_CGROUP, "cgroup");
        word(out, attr, PERF_SAMPLE_DATA_PAGE_SIZE, "data_page_size");
        word(out, attr, PERF_SAMPLE_CODE_PAGE_SIZE, "code_page_size");
    }

    private void word(GrowableBytes out, PerfAttr attr, long bit, String name) {
        if (attr.samples(bit)) {
            out.u64(rest.number(name));
        }
    }

    /** Flags in the order of bits of little-endian machines. */
    private void branches(GrowableBytes out, long kind) {
        long[] from = rest.numbers("branch_from");
        long[] to = rest.numbers("branch_to");
        long[] flags = rest.numbers("branch_flags");
        out.u64(from.length);
        if ((kind & PERF_SAMPLE_BRANCH_HW_INDEX) != 0) {
            out.u64(rest.number("branch_hw_idx"));
        }
        for (int i = 0; i < from.length; i++) {
            out.u64(from[i]).u64(at(to, i)).u64(at(flags, i));
        }
        if ((kind & PERF_SAMPLE_BRANCH_COUNTERS) != 0) {
            long[] counters = rest.numbers("branch_counters");
            for (int i = 0; i < from.length; i++) {
                out.u64(at(counters, i));
            }
        }
    }

    /** ABI 0 has no registers. */
    private void registers(GrowableBytes out, String name, long mask) {
        long[] values = rest.numbers(name);
        long abi = values.length == 0 ? 0 : rest.number(name + "_abi");
        out.u64(abi);
        for (int i = 0; abi != 0 && i < Long.bitCount(mask); i++) {
            out.u64(at(values, i));
        }
    }
}
