/**
 * Scripts compiled ahead of time: a file of programs in which what differs between kernels is named
 * and not yet numbered, and reading it back. The form of the file is described in
 * docs/compiled-scripts.md.
 *
 * {@snippet :
 * byte[] bytes = FileWriter.bytes(file); // of a compilation for any machine
 * AotFile same = FileReader.read("opens.sbt", bytes);
 * }
 */
@org.jspecify.annotations.NullMarked
package sonde.lang.bpftrace.ahead;
