/* Types that the kernel has alike or otherwise; the test makes bpf_core_type_matches of the questions,
 * which compilers before 15 do not know. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

struct list_head___alike {
    struct list_head___alike *next, *prev;
};
struct list_head___other {
    int next;
};

long alike, other;
char LICENSE[] SEC("license") = "GPL";

SEC("raw_tp/sys_enter")
int look(void *context)
{
    alike = bpf_core_type_exists(struct list_head___alike);
    other = bpf_core_type_exists(struct list_head___other);
    return 0;
}
