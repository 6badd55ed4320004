/**
 * The heap of running processes: probes on the functions of their allocators, and sums by stack
 * that the kernel keeps.
 *
 * {@snippet :
 * try (HeapProbes probes = HeapProbes.open(HeapLimits.USUAL)) {
 *     probes.follow(pid);
 *     probes.attach("/lib/x86_64-linux-gnu/libc.so.6", List.of(pid));
 *     probes.sums().forEach(sum -> ...);
 * }
 * }
 */
package sonde.probe.heap;
