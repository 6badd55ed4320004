// Sections that name what no machine has.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("tp/sched/no_such")
int no_tracepoint(void *context)
{
    return 0;
}

SEC("uprobe//no/such/file:main")
int no_file(void *context)
{
    return 0;
}

SEC("uprobe//proc/self/exe:no_such_function")
int no_function(void *context)
{
    return 0;
}
