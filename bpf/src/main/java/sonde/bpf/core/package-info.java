/**
 * Applies CO-RE relocations, which adapt a program that was compiled against one kernel's types to
 * another kernel (include/uapi/linux/bpf.h, enum bpf_core_relo_kind).
 *
 * {@snippet :
 * CoreRelocator relocator = new CoreRelocator(localTypes, TargetTypes.of(List.of(vmlinux)));
 * CoreRelocator.Outcome outcome =
 *         relocator.resolve(typeId, "0:1", CoreKind.of(0)); // where the member lies there
 * }
 */
package sonde.bpf.core;
