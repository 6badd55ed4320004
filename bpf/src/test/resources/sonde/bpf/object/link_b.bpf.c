// Second of two objects that need each other.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

extern struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, int);
    __type(value, long);
} shared_map SEC(".maps");

int theirs = 20;
static int hidden = 7;
extern int own;
int result_b;

__noinline int their_function(int x)
{
    return x * hidden;
}

int chosen(int x)
{
    return x + 1000;
}

SEC("raw_tp/sys_exit")
int program_b(void *ctx)
{
    int zero = 0;
    long *value = bpf_map_lookup_elem(&shared_map, &zero);

    if (value)
        __sync_fetch_and_add(value, 1);
    result_b = own + hidden;
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
