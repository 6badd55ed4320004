/**
 * JVMs among the recorded processes: finding them and asking them where their compiled methods lie.
 *
 * {@snippet :
 * if (JvmAttach.isJvm(pid)) {
 *     byte[] map = JvmAttach.perfMap(pid, Duration.ofSeconds(2)); // lines "start size name"
 * }
 * }
 */
package sonde.probe.jvm;
