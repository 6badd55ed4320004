/* What the training of the start-up cache loads and attaches for a moment; training.bpf.o is made by
 *
 *     clang -g -O2 -target bpf -I/usr/include/x86_64-linux-gnu -fdebug-compilation-dir=. \
 *         -c training.bpf.c -o training.bpf.o && llvm-strip -g training.bpf.o
 *
 * A map, variables of each kind, a subprogram, a CO-RE read, and programs of usual kinds. */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

struct task_struct {
    int pid;
} __attribute__((preserve_access_index));

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u64);
} counts SEC(".maps");

extern int LINUX_KERNEL_VERSION __kconfig;

const volatile int wanted = -1;
int last, version = 1;

static __attribute__((noinline)) int count(__u32 key)
{
    __u64 *value = bpf_map_lookup_elem(&counts, &key);

    if (value)
        __sync_fetch_and_add(value, 1);
    return 0;
}

SEC("tracepoint/sched/sched_process_fork")
int fork(void *ctx)
{
    version = LINUX_KERNEL_VERSION;
    return count(0);
}

SEC("raw_tp/sched_process_exec")
int exec(void *ctx)
{
    struct task_struct *task = (void *)bpf_get_current_task();

    last = BPF_CORE_READ(task, pid);
    return last == wanted ? count(0) : 0;
}

SEC("tp_btf/sched_process_exit")
int ended(__u64 *ctx)
{
    struct task_struct *task = (void *)ctx[0];

    last = task->pid;
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
