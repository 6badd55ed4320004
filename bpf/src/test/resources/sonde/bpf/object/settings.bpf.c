/* Settings of the kernel's build, one of each type that a setting can have. */
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>

extern bool CONFIG_BPF_SYSCALL __kconfig __weak;
extern enum libbpf_tristate CONFIG_BPF __kconfig __weak;
extern char CONFIG_BPF_EVENTS __kconfig __weak;
extern unsigned char CONFIG_LOG_BUF_SHIFT __kconfig __weak;
extern short CONFIG_HZ __kconfig __weak;
extern unsigned int CONFIG_NR_CPUS __kconfig __weak;
extern unsigned long CONFIG_ILLEGAL_POINTER_VALUE __kconfig __weak;
extern char CONFIG_CC_VERSION_TEXT[8] __kconfig __weak;
extern bool LINUX_HAS_BPF_COOKIE __kconfig;
extern bool LINUX_HAS_SYSCALL_WRAPPER __kconfig;

long flag, three, letter, byte, half, word, giant, first, last, cookie, wrapper;
char LICENSE[] SEC("license") = "GPL";

SEC("raw_tp/sys_enter")
int look(void *context)
{
    flag = CONFIG_BPF_SYSCALL;
    three = CONFIG_BPF;
    letter = CONFIG_BPF_EVENTS;
    byte = CONFIG_LOG_BUF_SHIFT;
    half = CONFIG_HZ;
    word = CONFIG_NR_CPUS;
    giant = CONFIG_ILLEGAL_POINTER_VALUE;
    first = CONFIG_CC_VERSION_TEXT[0];
    last = CONFIG_CC_VERSION_TEXT[7];
    cookie = LINUX_HAS_BPF_COOKIE;
    wrapper = LINUX_HAS_SYSCALL_WRAPPER;
    return 0;
}
