/* Fifty programs that count for the parent of who runs; bench/run appends them. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

struct task_struct {
    int tgid;
    struct task_struct *real_parent;
} __attribute__((preserve_access_index));
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1024);
    __type(key, int);
    __type(value, long);
} counts SEC(".maps");
long total;
const volatile int only = -1;
char LICENSE[] SEC("license") = "GPL";

static __always_inline int count(int number)
{
    struct task_struct *task = (void *)bpf_get_current_task();
    int parent = BPF_CORE_READ(task, real_parent, tgid);
    long one = 1, *found;

    if (parent == only)
        return 0;
    found = bpf_map_lookup_elem(&counts, &parent);
    if (found)
        __sync_fetch_and_add(found, 1);
    else
        bpf_map_update_elem(&counts, &parent, &one, 0);
    __sync_fetch_and_add(&total, number);
    return 0;
}
