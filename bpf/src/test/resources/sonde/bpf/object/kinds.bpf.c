// A program in each kind of section.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

long hits;
char LICENSE[] SEC("license") = "GPL";

#define PROGRAM(section, name, result) \
    SEC(section) int name(void *ctx) { __sync_fetch_and_add(&hits, 1); return result; }

PROGRAM("socket", p_socket, 0)
PROGRAM("kprobe/do_sys_openat2", p_kprobe, 0)
PROGRAM("kretprobe/do_sys_openat2", p_kretprobe, 0)
PROGRAM("ksyscall/getppid", p_ksyscall, 0)
PROGRAM("kretsyscall/getppid", p_kretsyscall, 0)
PROGRAM("?kprobe.multi/do_sys_open*", p_kprobe_multi, 0)
PROGRAM("uprobe/libc.so.6:getppid", p_uprobe, 0)
PROGRAM("uretprobe/libc.so.6:getppid", p_uretprobe, 0)
PROGRAM("?uprobe.multi/libc.so.6:getp?id", p_uprobe_multi, 0)
PROGRAM("tracepoint/sched/sched_switch", p_tracepoint, 0)
PROGRAM("tp/syscalls/sys_enter_getppid", p_tp, 0)
PROGRAM("raw_tracepoint/sys_enter", p_raw_tracepoint, 0)
PROGRAM("raw_tp/sys_exit", p_raw_tp, 0)
PROGRAM("tp_btf/sched_switch", p_tp_btf, 0)
PROGRAM("?fentry/do_sys_openat2", p_fentry, 0)
PROGRAM("?fexit/do_sys_openat2", p_fexit, 0)
PROGRAM("iter/task", p_iter, 0)
PROGRAM("perf_event", p_perf_event, 0)
PROGRAM("xdp", p_xdp, XDP_PASS)
PROGRAM("xdp/devmap", p_xdp_devmap, XDP_PASS)
PROGRAM("xdp/cpumap", p_xdp_cpumap, XDP_PASS)
PROGRAM("tc", p_tc, 0)
PROGRAM("classifier", p_classifier, 0)
PROGRAM("action", p_action, 0)
PROGRAM("?tcx/ingress", p_tcx, -1)
PROGRAM("cgroup_skb/egress", p_cgroup_skb, 1)
PROGRAM("cgroup/skb", p_cgroup_any, 1)
PROGRAM("cgroup/sock_create", p_sock_create, 1)
PROGRAM("cgroup/connect4", p_connect4, 1)
PROGRAM("cgroup/sysctl", p_sysctl, 1)
PROGRAM("cgroup/getsockopt", p_getsockopt, 1)
PROGRAM("cgroup/dev", p_dev, 1)
PROGRAM("sockops", p_sockops, 1)
PROGRAM("sk_skb/stream_verdict", p_sk_skb, 1)
PROGRAM("sk_msg", p_sk_msg, 1)
PROGRAM("sk_reuseport", p_sk_reuseport, 1)
PROGRAM("sk_lookup", p_sk_lookup, 1)
PROGRAM("flow_dissector", p_flow_dissector, 0)
PROGRAM("syscall", p_syscall, 0)
