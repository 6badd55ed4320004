// A third object beside link_a and link_b: their map, a setting, a static of the same name.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

extern struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, int);
    __type(value, long);
} shared_map SEC(".maps");
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 8);
    __type(key, int);
    __type(value, long);
} third_map SEC(".maps");
extern int LINUX_KERNEL_VERSION __kconfig;
extern int their_function(int x);
extern int own;
static int hidden = 1000;
static const char text[] = "third";
int result_c, version_c, letter_c;

SEC("raw_tp/sys_enter")
int program_c(void *ctx)
{
    int key = 1;
    long *value, sum = 0;

    hidden++;
    key = 0;
    value = bpf_map_lookup_elem(&shared_map, &key);
    if (value)
        sum = *value;
    bpf_map_update_elem(&third_map, &key, &sum, 0);
    result_c = their_function(own) + (hidden > 1000);
    version_c = LINUX_KERNEL_VERSION;
    letter_c = text[result_c & 3];
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
