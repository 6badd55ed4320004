/* An arena of 16 pages: a program takes one and writes into it. Made for compilers that do not know
 * address spaces: the cast of a pointer is put in as bytes. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct {
    __uint(type, 33); /* BPF_MAP_TYPE_ARENA */
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 16);
} arena SEC(".maps");
void *bpf_arena_alloc_pages(void *map, void *address, __u32 pages, int node, __u64 flags) __ksym;
int begun SEC(".addr_space.1") = 7;
long place, seen;
char LICENSE[] SEC("license") = "GPL";

SEC("syscall")
int fill(void *context)
{
    register long *page asm("r1") = bpf_arena_alloc_pages(&arena, 0, 1, -1, 0);

    place = (long)page;
    if (!page)
        return 1;
    /* r1 = addr_space_cast(r1, 0, 1) */
    asm volatile(".byte 0xbf, 0x11, 1, 0, 1, 0, 0, 0" : "+r"(page));
    page[3] = 42;

    register int *variable asm("r1") = &begun;

    asm volatile(".byte 0xbf, 0x11, 1, 0, 1, 0, 0, 0" : "+r"(variable));
    seen = *variable;
    *variable = 8;
    return 0;
}
