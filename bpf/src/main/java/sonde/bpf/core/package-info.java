/**
 * CO-RE: what a program compiled against one kernel's types must change to run on another's
 * (include/uapi/linux/bpf.h, enum bpf_core_relo_kind).
 *
 * {@snippet :
 * CoreRelocator relocator = new CoreRelocator(localTypes, TargetTypes.of(List.of(vmlinux)));
 * CoreRelocator.Outcome outcome =
 *         relocator.resolve(typeId, "0:1", CoreKind.of(0)); // where the member lies there
 * }
 */
package sonde.bpf.core;
