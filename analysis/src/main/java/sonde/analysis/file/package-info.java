/**
 * Sums reads, writes and waits by file name and network peer.
 *
 * {@snippet :
 * SyscallNames calls = SyscallNames.of(Arch.X86_64);
 * FileAccesses files = new FileAccesses(threads, TimeWindow.ALL, calls::numberOf, tables);
 * Engine.run(recording, List.of(threads, files));
 * files.entries(thread -> true).getFirst().name();
 * }
 */
@org.jspecify.annotations.NullMarked
package sonde.analysis.file;
