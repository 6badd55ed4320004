/**
 * Finds the JVMs among the recorded processes and asks them for the addresses of their compiled
 * methods.
 *
 * {@snippet :
 * if (JvmAttach.isJvm(pid)) {
 *     byte[] map = JvmAttach.perfMap(pid, Duration.ofSeconds(2)); // lines "start size name"
 * }
 * }
 */
package sonde.probe.jvm;
