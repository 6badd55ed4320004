/**
 * Runs eBPF programs in Java, without the kernel and without root, and checks every access.
 *
 * {@snippet :
 * VirtualArray counts = VirtualArray.of("counts", 8, 1);
 * BpfMachine machine = new BpfMachine(MachineEnvironment.FIXED).map(3, counts);
 * VirtualProgram program =
 *         machine.load(
 *                 Assembler.assemble(
 *                         """
 *                         r1 = map[fd:3][0]+0
 *                         r2 = 1
 *                         lock *(u64 *)(r1 +0) += r2
 *                         r0 = 0
 *                         exit
 *                         """));
 * program.run(ProgramContext.none());
 * byte[] one = counts.get(VirtualArray.key(0));
 * }
 *
 * <p>Helpers that are there from the start: maps (lookup, update, delete, push, pop, peek,
 * for_each_map_elem, map_lookup_percpu_elem), ring buffers, perf_event_output, tail_call, loop,
 * probe_read and its kinds, clock, task, random number, trace_printk, trace_vprintk, snprintf,
 * strncmp, skb_load_bytes. Others are added with {@code BpfMachine.helper}.
 */
package sonde.bpf.interpreter;
