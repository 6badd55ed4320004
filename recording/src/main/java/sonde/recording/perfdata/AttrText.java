package sonde.recording.perfdata;

import java.util.StringJoiner;

/**
 * A perf_event_attr in words, as {@code perf evlist -v} and {@code perf script --header} show it
 * (tools/perf/util/perf_event_attr_fprintf.c); what is zero is left out.
 */
public final class AttrText {
    private static final String SAMPLE_TYPE =
            "IP TID TIME ADDR READ CALLCHAIN ID CPU PERIOD STREAM_ID RAW BRANCH_STACK REGS_USER"
                    + " STACK_USER WEIGHT DATA_SRC IDENTIFIER TRANSACTION REGS_INTR PHYS_ADDR AUX"
                    + " CGROUP DATA_PAGE_SIZE CODE_PAGE_SIZE WEIGHT_STRUCT";
    private static final String READ_FORMAT = "TOTAL_TIME_ENABLED TOTAL_TIME_RUNNING ID GROUP LOST";
    private static final String BRANCHES =
            "USER KERNEL HV ANY ANY_CALL ANY_RETURN IND_CALL ABORT_TX IN_TX NO_TX COND CALL_STACK"
                    + " IND_JUMP CALL NO_FLAGS NO_CYCLES TYPE_SAVE HW_INDEX PRIV_SAVE COUNTERS";
    // One bit each from bit 0 on; precise_ip has two.
    private static final String FLAGS =
            "disabled inherit pinned exclusive exclude_user exclude_kernel exclude_hv exclude_idle"
                    + " mmap comm freq inherit_stat enable_on_exec task watermark precise_ip -"
                    + " mmap_data sample_id_all exclude_host exclude_guest"
                    + " exclude_callchain_kernel exclude_callchain_user mmap2 comm_exec"
                    + " use_clockid context_switch write_backward namespaces ksymbol bpf_event"
                    + " aux_output cgroup text_poke build_id inherit_thread remove_on_exec sigtrap"
                    + " defer_callchain defer_output";
    private static final int PRECISE_IP = 15;

    private AttrText() {}

    /** {@code "type = 1, size = 128, config = 0x9, …"}. */
    public static String of(PerfAttr attr) {
        StringJoiner out = new StringJoiner(", ");
        out.add("type = " + attr.type());
        hex(out, "config", attr.config());
        number(out, "{ sample_period, sample_freq }", attr.samplePeriod());
        bits(out, "sample_type", SAMPLE_TYPE, attr.sampleType());
        bits(out, "read_format", READ_FORMAT, attr.readFormat());
        String[] flags = FLAGS.split(" ");
        for (int bit = 0; bit < flags.length; bit++) {
            if (!flags[bit].equals("-")) {
                number(out, flags[bit], attr.flags() >>> bit & (bit == PRECISE_IP ? 3 : 1));
            }
        }
        number(out, "{ wakeup_events, wakeup_watermark }", attr.wakeup());
        number(out, "bp_type", attr.bpType());
        hex(out, "{ bp_addr, config1 }", attr.config1());
        hex(out, "{ bp_len, config2 }", attr.config2());
        bits(out, "branch_sample_type", BRANCHES, attr.branchSampleType());
        hex(out, "sample_regs_user", attr.sampleRegsUser());
        number(out, "sample_stack_user", attr.sampleStackUser());
        number(out, "clockid", attr.clockid());
        hex(out, "sample_regs_intr", attr.sampleRegsIntr());
        number(out, "aux_watermark", attr.auxWatermark());
        number(out, "sample_max_stack", attr.sampleMaxStack());
        number(out, "aux_sample_size", attr.auxSampleSize());
        number(out, "sig_data", attr.sigData());
        hex(out, "config3", attr.config3());
        return out.toString();
    }

    private static void number(StringJoiner out, String name, long value) {
        if (value != 0) {
            out.add(name + " = " + Long.toUnsignedString(value));
        }
    }

    private static void hex(StringJoiner out, String name, long value) {
        if (value != 0) {
            out.add(name + " = 0x" + Long.toHexString(value));
        }
    }

    private static void bits(StringJoiner out, String name, String names, long value) {
        if (value == 0) {
            return;
        }
        StringJoiner set = new StringJoiner("|");
        String[] all = names.split(" ");
        for (int bit = 0; bit < Long.SIZE; bit++) {
            if ((value >>> bit & 1) != 0) {
                set.add(bit < all.length ? all[bit] : "bit" + bit);
            }
        }
        out.add(name + " = " + set);
    }
}
