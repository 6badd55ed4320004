package sonde.bpf;

/** Kinds of programs; the codes are enum bpf_prog_type. */
public enum ProgramType {
    /** On kernel and user probes; context is struct pt_regs. */
    KPROBE(2),
    /** On a tracepoint's perf event; context is the event as its format file says. */
    TRACEPOINT(5),
    /** On a sampling perf event; context is struct bpf_perf_event_data. */
    PERF_EVENT(7),
    /** On a tracepoint's arguments, u64 each. */
    RAW_TRACEPOINT(17);

    private final int code;

    ProgramType(int code) {
        this.code = code;
    }

    int code() {
        return code;
    }
}
