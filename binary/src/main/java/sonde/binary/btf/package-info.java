/**
 * Reads BTF, the types of the kernel and of BPF objects (Documentation/bpf/btf.rst of Linux 6.18).
 * Opening the BTF of vmlinux only records the offset of each type; a type is decoded when it is
 * requested.
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
