/**
 * Provides eBPF maps, programs and attachments through bpf(2) and perf_event_open(2) alone.
 *
 * {@snippet :
 * BpfMap counts = BpfMap.create(new MapSpec("counts", MapType.ARRAY, 4, 8, 1));
 * ProgramCode code =
 *         new CodeBuilder()
 *                 .mapValue(R1, counts.fd(), 0)
 *                 .move(R2, 1)
 *                 .atomicAdd(Width.U64, R1, 0, R2)
 *                 .exit(0)
 *                 .build();
 * try (Program program = Program.load("count", ProgramType.TRACEPOINT, code);
 *         Link link = Link.tracepoint(program, TracepointFormat.of("sched", "sched_switch"))) {
 *     Thread.sleep(1000);
 *     long switches = counts.sum(0);
 * }
 * }
 *
 * <p>Attachments other than tracepoints are made in {@code sonde.bpf.link}, views of maps with
 * types in {@code sonde.bpf.map}, rings are read with {@code sonde.bpf.ring}; what a kernel can do
 * says {@code sonde.bpf.feature}, what it has {@code sonde.bpf.inventory}.
 */
package sonde.bpf;
