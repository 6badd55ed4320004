/**
 * Records the names of files and peers by a small BPF program.
 *
 * {@snippet :
 * try (NamesProgram names = NamesProgram.ofTree(cpu -> outputFds[cpu], Set.of(commandPid))) {
 *     // samples with raw data arrive in the rings of outputFds: sonde.recording.names.NamedCall
 *     summary.add(names.counters());
 * }
 * }
 */
package sonde.probe.names;
