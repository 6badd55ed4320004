// Counts context switches and writes each into the trace log.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __type(key, __u32);
    __type(value, __u64);
    __uint(max_entries, 1);
} counter_map SEC(".maps");

struct switch_event {
    unsigned long long common;
    char prev_comm[16];
    int prev_pid;
    int prev_prio;
    long long prev_state;
    char next_comm[16];
    int next_pid;
    int next_prio;
};

SEC("tracepoint/sched/sched_switch")
int count_switch(struct switch_event *ctx)
{
    char text[] = "sonde: from %s to %s\n";
    __u32 key = 0;
    __u64 *count;

    bpf_trace_printk(text, sizeof(text), ctx->prev_comm, ctx->next_comm);
    count = bpf_map_lookup_elem(&counter_map, &key);
    if (count)
        __sync_fetch_and_add(count, 1);
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
