package sonde.bpf;

import org.jspecify.annotations.Nullable;

/**
 * Where a program goes: enum bpf_attach_type (Linux 6.18), in the order of its codes, without the
 * prefix BPF_. The names are those that bpftool prints.
 */
public enum AttachType {
    CGROUP_INET_INGRESS,
    CGROUP_INET_EGRESS,
    CGROUP_INET_SOCK_CREATE,
    CGROUP_SOCK_OPS,
    SK_SKB_STREAM_PARSER,
    SK_SKB_STREAM_VERDICT,
    CGROUP_DEVICE,
    SK_MSG_VERDICT,
    CGROUP_INET4_BIND,
    CGROUP_INET6_BIND,
    CGROUP_INET4_CONNECT,
    CGROUP_INET6_CONNECT,
    CGROUP_INET4_POST_BIND,
    CGROUP_INET6_POST_BIND,
    CGROUP_UDP4_SENDMSG,
    CGROUP_UDP6_SENDMSG,
    LIRC_MODE2,
    FLOW_DISSECTOR,
    CGROUP_SYSCTL,
    CGROUP_UDP4_RECVMSG,
    CGROUP_UDP6_RECVMSG,
    CGROUP_GETSOCKOPT,
    CGROUP_SETSOCKOPT,
    /** A typed tracepoint (tp_btf). Since Linux 5.5, as the next three. */
    TRACE_RAW_TP,
    /** A function's begin, with its arguments. */
    TRACE_FENTRY,
    /** A function's end, with arguments and result. */
    TRACE_FEXIT,
    /** A function that may be replaced: error injection and LSM hooks. Since 5.7. */
    MODIFY_RETURN,
    /** A hook of the security modules. Since 5.7. */
    LSM_MAC,
    /** Kernel objects one after the other, read as a file. Since 5.8. */
    TRACE_ITER,
    CGROUP_INET4_GETPEERNAME,
    CGROUP_INET6_GETPEERNAME,
    CGROUP_INET4_GETSOCKNAME,
    CGROUP_INET6_GETSOCKNAME,
    XDP_DEVMAP,
    CGROUP_INET_SOCK_RELEASE,
    XDP_CPUMAP,
    SK_LOOKUP,
    /** A network device. Since 5.9 by link. */
    XDP,
    SK_SKB_VERDICT,
    SK_REUSEPORT_SELECT,
    SK_REUSEPORT_SELECT_OR_MIGRATE,
    /** A perf event: tracepoint, probe, sample. Since 5.15. */
    PERF_EVENT,
    /** Many kernel functions. Since 5.18. */
    TRACE_KPROBE_MULTI,
    LSM_CGROUP,
    STRUCT_OPS,
    NETFILTER,
    /** A network device's traffic. Since 6.6, as the next two. */
    TCX_INGRESS,
    TCX_EGRESS,
    /** Many places of one file. */
    TRACE_UPROBE_MULTI,
    CGROUP_UNIX_CONNECT,
    CGROUP_UNIX_SENDMSG,
    CGROUP_UNIX_RECVMSG,
    CGROUP_UNIX_GETPEERNAME,
    CGROUP_UNIX_GETSOCKNAME,
    NETKIT_PRIMARY,
    NETKIT_PEER,
    TRACE_KPROBE_SESSION,
    TRACE_UPROBE_SESSION;

    private static final AttachType[] ALL = values();

    /** The number of enum bpf_attach_type. */
    public int code() {
        return ordinal();
    }

    /** The name that bpftool prints: {@code "trace_fentry"}. */
    public String kernelName() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }

    /** The type of a number; null for one this enum does not have. */
    public static @Nullable AttachType of(int code) {
        return code >= 0 && code < ALL.length ? ALL[code] : null;
    }

    /** {@link #kernelName} of a number, or {@code "type 99"}. */
    public static String nameOf(int code) {
        AttachType type = of(code);
        return type == null ? "type " + code : type.kernelName();
    }
}
