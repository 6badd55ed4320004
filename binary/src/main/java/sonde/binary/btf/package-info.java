/**
 * BTF, the kernel's and BPF objects' own types (Documentation/bpf/btf.rst of Linux 6.18). The whole
 * of vmlinux is opened by noting where each type begins; a type is decoded when it is asked for.
 *
 * {@snippet :
 * Btf btf = Btf.read(Input.open(Path.of("/sys/kernel/btf/vmlinux")));
 * Struct task = btf.struct("task_struct").orElseThrow();
 * Member pid = btf.member(task, "pid").orElseThrow();
 * // pid.bitOffset() / 8
 * }
 */
@NullMarked
package sonde.binary.btf;

import org.jspecify.annotations.NullMarked;
