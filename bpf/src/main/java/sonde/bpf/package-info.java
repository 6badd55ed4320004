/**
 * eBPF with nothing but bpf(2) and perf_event_open(2): maps, programs, attachments.
 *
 * {@snippet :
 * BpfMap counts = BpfMap.create(new MapSpec("counts", MapType.ARRAY, 4, 8, 1));
 * Code code =
 *         new CodeBuilder()
 *                 .mapValue(R1, counts.fd(), 0)
 *                 .move(R2, 1)
 *                 .atomicAdd(Width.U64, R1, 0, R2)
 *                 .exit(0)
 *                 .build();
 * try (Program program = Program.load("count", ProgramType.TRACEPOINT, code);
 *         Link link = Link.tracepoint(program, Tracepoint.of("sched", "sched_switch"))) {
 *     Thread.sleep(1000);
 *     long switches = counts.sum(0);
 * }
 * }
 *
 * <p>No program here may call bpf_trace_printk: merely loading one switches the global event
 * bpf_trace:bpf_trace_printk on, and it stays on.
 */
package sonde.bpf;
