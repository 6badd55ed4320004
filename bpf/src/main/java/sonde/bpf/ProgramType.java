package sonde.bpf;

import org.jspecify.annotations.Nullable;

/** Kinds of programs; the codes are enum bpf_prog_type (Linux 6.18), the names bpftool's. */
public enum ProgramType {
    SOCKET_FILTER(1, "socket_filter"),
    /** On kernel and user probes; context is struct pt_regs. */
    KPROBE(2, "kprobe"),
    /** In traffic control, also by tcx; context is struct __sk_buff. */
    SCHED_CLS(3, "sched_cls"),
    SCHED_ACT(4, "sched_act"),
    /** On a tracepoint's perf event; context is the event as its format file says. */
    TRACEPOINT(5, "tracepoint"),
    /** On packets before the stack sees them; context is struct xdp_md. */
    XDP(6, "xdp"),
    /** On a sampling perf event; context is struct bpf_perf_event_data. */
    PERF_EVENT(7, "perf_event"),
    CGROUP_SKB(8, "cgroup_skb"),
    CGROUP_SOCK(9, "cgroup_sock"),
    LWT_IN(10, "lwt_in"),
    LWT_OUT(11, "lwt_out"),
    LWT_XMIT(12, "lwt_xmit"),
    SOCK_OPS(13, "sock_ops"),
    SK_SKB(14, "sk_skb"),
    CGROUP_DEVICE(15, "cgroup_device"),
    SK_MSG(16, "sk_msg"),
    /** On a tracepoint's arguments, u64 each. */
    RAW_TRACEPOINT(17, "raw_tracepoint"),
    CGROUP_SOCK_ADDR(18, "cgroup_sock_addr"),
    LWT_SEG6LOCAL(19, "lwt_seg6local"),
    LIRC_MODE2(20, "lirc_mode2"),
    SK_REUSEPORT(21, "sk_reuseport"),
    FLOW_DISSECTOR(22, "flow_dissector"),
    CGROUP_SYSCTL(23, "cgroup_sysctl"),
    RAW_TRACEPOINT_WRITABLE(24, "raw_tracepoint_writable"),
    CGROUP_SOCKOPT(25, "cgroup_sockopt"),
    /** Typed tracepoints, fentry, fexit, fmod_ret and iterators, by {@link AttachType}. */
    TRACING(26, "tracing"),
    STRUCT_OPS(27, "struct_ops"),
    /** In place of a function of another program. */
    EXT(28, "ext"),
    LSM(29, "lsm"),
    SK_LOOKUP(30, "sk_lookup"),
    /** Run by {@link Program#run} only; may call bpf(2). Since Linux 5.14. */
    SYSCALL(31, "syscall"),
    NETFILTER(32, "netfilter");

    private static final ProgramType[] ALL = values();

    private final int code;
    private final String kernelName;

    ProgramType(int code, String kernelName) {
        this.code = code;
        this.kernelName = kernelName;
    }

    /** The number of enum bpf_prog_type. */
    public int code() {
        return code;
    }

    /** The name that bpftool prints: {@code "raw_tracepoint"}. */
    public String kernelName() {
        return kernelName;
    }

    /** The type of a number; null for one this enum does not have. */
    public static @Nullable ProgramType of(int code) {
        return code >= 1 && code <= ALL.length ? ALL[code - 1] : null;
    }

    /** {@link #kernelName} of a number, or {@code "type 99"}. */
    public static String nameOf(int code) {
        ProgramType type = of(code);
        return type == null ? "type " + code : type.kernelName;
    }
}
