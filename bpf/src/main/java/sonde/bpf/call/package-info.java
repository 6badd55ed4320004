/**
 * Wraps bpf(2): {@code union bpf_attr}, its commands, and the common parts of all kernel objects.
 *
 * {@snippet :
 * for (int id : KernelObject.ids(BpfAttr.PROG_GET_NEXT_ID)) {
 *     int fd = KernelObject.open(BpfAttr.PROG_GET_FD_BY_ID, id, "program " + id);
 * }
 * }
 */
package sonde.bpf.call;
