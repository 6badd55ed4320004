package sonde.bpf;

import org.jspecify.annotations.Nullable;

/** Kinds of links: enum bpf_link_type (Linux 6.18), in the order of its codes from 1. */
public enum LinkType {
    RAW_TRACEPOINT,
    /** fentry, fexit, fmod_ret, LSM, typed tracepoints. */
    TRACING,
    CGROUP,
    ITER,
    NETNS,
    XDP,
    PERF_EVENT,
    KPROBE_MULTI,
    STRUCT_OPS,
    NETFILTER,
    TCX,
    UPROBE_MULTI,
    NETKIT,
    SOCKMAP;

    private static final LinkType[] ALL = values();

    /** The type of a number; null for one this enum does not have. */
    public static @Nullable LinkType of(int code) {
        return code >= 1 && code <= ALL.length ? ALL[code - 1] : null;
    }

    /** The name that bpftool prints. */
    public String kernelName() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
