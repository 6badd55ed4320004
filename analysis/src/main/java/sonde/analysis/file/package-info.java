/**
 * Sums reads, writes and waits by file name and network peer.
 *
 * {@snippet :
 * Files files = new Files(threads, Window.ALL, Syscalls.of(Arch.X86_64)::numberOf, tables);
 * Engine.run(recording, List.of(threads, files));
 * files.entries(thread -> true).getFirst().name();
 * }
 */
@org.jspecify.annotations.NullMarked
package sonde.analysis.file;
