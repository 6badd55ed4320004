// What the kernel's types say, read with CO-RE and without vmlinux.h.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct task_struct___mine {
    int pid;
    int tgid;
    char comm[16];
    struct task_struct___mine *real_parent;
    int no_such_member;
    unsigned in_execve : 1;
};
struct no_such_type {
    int a;
};
struct signal_struct {
    int nr_threads;
};
#pragma clang attribute pop
enum pid_type { PIDTYPE_PID, PIDTYPE_TGID, PIDTYPE_SID = 40, PIDTYPE_NOT_THERE };

const volatile int wanted = 0;
int pid, parent, offset, has_pid, has_other, task_bytes, task_id, task_local_id, has_type;
int has_enum, has_other_enum, session, is_signed, execve, pid_bytes, matches;
char comm[16];
long seen;

SEC("raw_tp/sys_enter")
int BPF_PROG(look)
{
    struct task_struct___mine *task = (void *)bpf_get_current_task();
    int tgid = BPF_CORE_READ(task, tgid);

    if (tgid != wanted)
        return 0;
    pid = tgid;
    parent = BPF_CORE_READ(task, real_parent, tgid);
    BPF_CORE_READ_STR_INTO(&comm, task, comm);
    offset = __builtin_preserve_field_info(task->pid, BPF_FIELD_BYTE_OFFSET);
    pid_bytes = bpf_core_field_size(task->pid);
    is_signed = __builtin_preserve_field_info(task->pid, BPF_FIELD_SIGNED);
    has_pid = bpf_core_field_exists(task->pid);
    has_other = bpf_core_field_exists(task->no_such_member);
    if (has_other)
        pid = BPF_CORE_READ(task, no_such_member);
    task_bytes = bpf_core_type_size(struct task_struct___mine);
    task_id = bpf_core_type_id_kernel(struct task_struct___mine);
    task_local_id = bpf_core_type_id_local(struct task_struct___mine);
    has_type = bpf_core_type_exists(struct no_such_type);
    has_enum = bpf_core_enum_value_exists(enum pid_type, PIDTYPE_SID);
    has_other_enum = bpf_core_enum_value_exists(enum pid_type, PIDTYPE_NOT_THERE);
    session = bpf_core_enum_value(enum pid_type, PIDTYPE_SID);
    execve = BPF_CORE_READ_BITFIELD_PROBED(task, in_execve);
    seen++;
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
