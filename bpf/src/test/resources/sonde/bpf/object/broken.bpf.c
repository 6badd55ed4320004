// Reaches a member that no kernel has.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

struct task_struct {
    int no_such_member;
} __attribute__((preserve_access_index));

int value;

SEC("raw_tp/sys_enter")
int reach(void *ctx)
{
    struct task_struct *task = (void *)bpf_get_current_task();
    value = BPF_CORE_READ(task, no_such_member);
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
