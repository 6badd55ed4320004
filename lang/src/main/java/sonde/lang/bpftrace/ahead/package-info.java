/**
 * Writes and reads scripts that are compiled ahead of time. Such a file contains programs in which
 * everything that differs between kernels is a name instead of a number. docs/compiled-scripts.md
 * describes the format.
 *
 * {@snippet :
 * byte[] bytes = FileWriter.bytes(file); // of a compilation for any machine
 * AotFile same = AotReader.read("opens.sbt", bytes);
 * }
 */
@org.jspecify.annotations.NullMarked
package sonde.lang.bpftrace.ahead;
