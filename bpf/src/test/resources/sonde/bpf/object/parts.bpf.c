// Maps of several kinds, global data, subprograms, callbacks, externs.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

struct event {
    __u32 cpu;
    __u32 number;
    char text[8];
};
struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 5000);
} events SEC(".maps");
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, int);
    __type(value, long);
} hits SEC(".maps");
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 64);
    __type(key, int);
    __type(value, struct event);
} last SEC(".maps");
struct inner {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, int);
    __type(value, int);
};
struct inner first SEC(".maps"), second SEC(".maps");
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
    __uint(max_entries, 4);
    __type(key, int);
    __array(values, struct inner);
} outer SEC(".maps") = { .values = { [1] = &first, [3] = &second } };
int jumped_to(void *ctx);
struct {
    __uint(type, BPF_MAP_TYPE_PROG_ARRAY);
    __uint(max_entries, 2);
    __uint(key_size, sizeof(int));
    __array(values, int(void *));
} jumps SEC(".maps") = { .values = { [1] = (void *)&jumped_to } };

extern int LINUX_KERNEL_VERSION __kconfig;
extern enum libbpf_tristate CONFIG_BPF_SYSCALL __kconfig __weak;
extern int CONFIG_HZ __kconfig __weak;
extern int CONFIG_SONDE_NO_SUCH __kconfig __weak;
extern char CONFIG_CC_VERSION_TEXT[64] __kconfig __weak;
extern const void bpf_prog_put __ksym;
extern const void sonde_no_such_symbol __ksym __weak;
extern void sonde_no_such_function(void) __ksym __weak;

const volatile int target = 7;
const volatile char greeting[8] = "hello";
int counter;
static long sum = 5;
long started = 42;
int shared SEC(".data.shared") = 11;
long jumps_taken, loops;
int version, syscalls, hz, absent;
unsigned long long address, weak_address, weak_function;

static __noinline int scaled(int x)
{
    return x * target + sum;
}

__noinline int global_function(int x)
{
    counter++;
    return x + scaled(x);
}

static int add(__u32 i, void *ctx)
{
    sum += i;
    loops++;
    return 0;
}

SEC("raw_tp/sys_enter")
int work(void *ctx)
{
    int zero = 0;
    long *hit = bpf_map_lookup_elem(&hits, &zero);
    struct event *event;

    if (hit)
        ++*hit;
    bpf_loop(3, add, 0, 0);
    event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
    if (event) {
        event->cpu = bpf_get_smp_processor_id();
        event->number = counter;
        __builtin_memcpy(event->text, (void *)greeting, sizeof(event->text));
        bpf_ringbuf_submit(event, 0);
    }
    version = LINUX_KERNEL_VERSION;
    syscalls = CONFIG_BPF_SYSCALL;
    hz = CONFIG_HZ;
    absent = CONFIG_SONDE_NO_SUCH;
    address = (unsigned long long)&bpf_prog_put;
    weak_address = (unsigned long long)&sonde_no_such_symbol;
    if (sonde_no_such_function) {
        weak_function = 1;
        sonde_no_such_function();
    }
    started = global_function(2);
    return 0;
}

SEC("tp/sched/sched_switch")
int jumped_to(void *ctx)
{
    __sync_fetch_and_add(&jumps_taken, 1);
    return 0;
}

SEC("tp/sched/sched_switch")
int jumper(void *ctx)
{
    bpf_tail_call(ctx, &jumps, 1);
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
