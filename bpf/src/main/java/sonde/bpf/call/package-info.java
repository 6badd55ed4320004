/**
 * bpf(2) by the number: {@code union bpf_attr}, its commands, and what all objects of the kernel
 * have in common.
 *
 * {@snippet :
 * for (int id : KernelObject.ids(Attr.PROG_GET_NEXT_ID)) {
 *     int fd = KernelObject.open(Attr.PROG_GET_FD_BY_ID, id, "program " + id);
 * }
 * }
 */
package sonde.bpf.call;
