// First of two objects that need each other.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, int);
    __type(value, long);
} shared_map SEC(".maps");

int own = 3;
static int hidden = 100;
extern int theirs;
extern int their_function(int x);
int result_a;

__attribute__((weak)) int chosen(int x)
{
    return x + 1;
}

SEC("raw_tp/sys_enter")
int program_a(void *ctx)
{
    hidden++;
    result_a = their_function(own) + theirs + chosen(0);
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
