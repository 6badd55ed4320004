/**
 * Models eBPF instructions (RFC 9669): their encoding, the kernel's notation, and a builder.
 *
 * {@snippet :
 * Label done = new Label("done");
 * ProgramCode code =
 *         new CodeBuilder()
 *                 .load(Width.U64, R1, R1, 16) // the system call's first argument
 *                 .ifZero(R1, done)
 *                 .mapValue(R2, countsFd, 0)
 *                 .move(R3, 1)
 *                 .atomicAdd(Width.U64, R2, 0, R3)
 *                 .at(done)
 *                 .exit(0)
 *                 .build();
 * }
 */
package sonde.bpf.insn;
